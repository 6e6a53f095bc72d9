/** The rules of an application: one list, shared by all its registries and frozen when it is ready. */
import { matcherOf, type PublicRoute } from './rule.ts'

/** A rule and where it comes from. */
export interface RegisteredRule {
  readonly route: PublicRoute
  /** Such as `framework default`, `module "notes"`, `plugin blog` or `provider`. */
  readonly source: string
  /** The module that added it, itself or in its plugin. */
  readonly module?: string
}

/** The source of the framework's own rules. */
export const frameworkDefault = 'framework default'

/** `"GET exact /status" (module "notes")`, for messages, tables and logs. */
export function nameOfRule({ route, source }: RegisteredRule): string {
  return `"${String(route)}" (${source})`
}

/**
 * A search among many rules. It looks up the beginnings of a path that are as long as the literal text of a rule: 10,000
 * prefixes from the environment cost a missing path no more than ten (bench/gate.mjs).
 */
export function createFind(rules: readonly RegisteredRule[]): (path: string) => RegisteredRule | undefined {
  const groups = new Map<string, RegisteredRule[]>()
  for (const rule of rules) {
    const head = rule.route.kind === 'suffix' ? '' : matcherOf(rule.route).literal
    const group = groups.get(head)
    if (group === undefined) groups.set(head, [rule])
    else group.push(rule)
  }
  const lengths = new Set(Array.from(groups.keys(), (head) => head.length))

  return function find(path) {
    for (const length of lengths) {
      const found = groups.get(path.slice(0, length))?.find(({ route }) => matcherOf(route).matchesPath(path))
      if (found !== undefined) return found
    }
    return undefined
  }
}
