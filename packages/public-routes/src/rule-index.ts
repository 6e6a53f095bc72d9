/** Finds the rule that opens a path, at a cost of the length of the path and not of the number of rules. */
import { LiteralTrie } from './matching/literal-trie.ts'
import type { PublicRoute } from './public-route.ts'

/** A rule and where it comes from. */
export interface RegisteredRule {
  readonly route: PublicRoute
  /** `framework default`, `module "notes"`, `plugin blog`, `environment SM_AUTH_PUBLIC_PATHS`, `provider`, `route config`. */
  readonly source: string
}

/** The source of rules that a route's own configuration states; such a rule opens that route alone. */
export const routeConfig = 'route config'

/**
 * Exact rules in a map, suffix rules by their last characters, all others by the literal text they begin with.
 * The index only chooses candidates: each still has to match by itself, so it can never open more than the rules do.
 */
export class RuleIndex {
  readonly #exact = new Map<string, RegisteredRule[]>()
  readonly #byHead = new LiteralTrie<RegisteredRule>('forward')
  readonly #byTail = new LiteralTrie<RegisteredRule>('backward')

  constructor(rules: Iterable<RegisteredRule>) {
    for (const rule of rules) this.#add(rule)
  }

  /** A rule that matches the method (as it is) and the path, and that `admits` accepts; null where there is none. */
  find(
    method: string,
    path: string,
    admits: (rule: RegisteredRule) => boolean = always,
  ): RegisteredRule | null {
    const accept = (rule: RegisteredRule): boolean =>
      rule.route.allows(method) && admits(rule) && rule.route.matchesPath(path)
    return (
      this.#exact.get(path)?.find(accept) ??
      this.#byHead.find(path, accept) ??
      this.#byTail.find(path, accept) ??
      null
    )
  }

  #add(rule: RegisteredRule): void {
    const { kind, literal } = rule.route
    if (kind === 'suffix') this.#byTail.add(literal, rule)
    else if (kind !== 'exact') this.#byHead.add(literal, rule)
    else if (this.#exact.has(literal)) this.#exact.get(literal)?.push(rule)
    else this.#exact.set(literal, [rule])
  }
}

function always(): boolean {
  return true
}
