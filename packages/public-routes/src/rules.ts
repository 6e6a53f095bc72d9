/** The rules of an application, shared by all its registries. */
import { FMOD_PUBLIC_ROUTES_FROZEN } from './misuse-errors.ts'
import type { PublicRoute } from './rule.ts'

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

/** Frozen when the application is ready. */
export class RuleSet {
  readonly rules: RegisteredRule[] = []
  #isFrozen = false

  /** @throws {FMOD_PUBLIC_ROUTES_FROZEN} */
  add(rule: RegisteredRule): void {
    if (this.#isFrozen) throw new FMOD_PUBLIC_ROUTES_FROZEN(String(rule.route))
    this.rules.push(Object.freeze(rule))
  }

  freeze(): void {
    this.#isFrozen = true
    Object.freeze(this.rules)
  }

  get isFrozen(): boolean {
    return this.#isFrozen
  }
}

/** `"GET exact /status" (module "notes")`, for messages, tables and logs. */
export function nameOfRule({ route, source }: RegisteredRule): string {
  return `"${String(route)}" (${source})`
}

/**
 * A search among many rules: it looks up the beginnings and ends of a path that are as long as the literal text of a rule,
 * so that 10,000 prefixes from the environment cost a missing path no more than ten (bench/gate.mjs).
 */
export function createFind(rules: readonly RegisteredRule[]): (path: string) => RegisteredRule | undefined {
  const isSuffix = ({ route }: RegisteredRule): boolean => route.kind === 'suffix'
  const heads = byLiteral(rules.filter((rule) => !isSuffix(rule)))
  const tails = byLiteral(rules.filter(isSuffix))
  const headLengths = lengthsOf(heads)
  const tailLengths = lengthsOf(tails)

  return function find(path) {
    const matches = ({ route }: RegisteredRule): boolean => route.matchesPath(path)
    for (const length of headLengths) {
      const found = length > path.length ? undefined : heads.get(path.slice(0, length))?.find(matches)
      if (found !== undefined) return found
    }
    for (const length of tailLengths) {
      const found =
        length > path.length ? undefined : tails.get(path.slice(path.length - length))?.find(matches)
      if (found !== undefined) return found
    }
    return undefined
  }
}

function byLiteral(rules: readonly RegisteredRule[]): ReadonlyMap<string, readonly RegisteredRule[]> {
  const groups = new Map<string, RegisteredRule[]>()
  for (const rule of rules) {
    const group = groups.get(rule.route.literal)
    if (group === undefined) groups.set(rule.route.literal, [rule])
    else group.push(rule)
  }
  return groups
}

function lengthsOf(texts: ReadonlyMap<string, unknown>): readonly number[] {
  return [...new Set(Array.from(texts.keys(), (text) => text.length))]
}
