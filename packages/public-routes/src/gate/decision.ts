/** The policy of a route and method, and what it decides about a request. */
import type { Requirement } from '../access/declaration.ts'
import type { RegisteredRule } from '../rule.ts'

/**
 * How the gate let a request in. `rule` and `declaration`: it is public, for known and anonymous callers alike, because a
 * rule of the registry or the environment opens it, or because its access is declared so, by the `source`. `caller`: its
 * caller is known, and holds what `permission` names, if anything. The objects are frozen.
 */
export type RequestAdmission =
  | { readonly by: 'rule'; readonly rule: RegisteredRule; readonly permission?: undefined }
  | { readonly by: 'declaration'; readonly source: string; readonly permission?: undefined }
  | { readonly by: 'caller'; readonly permission?: string }

/** What the gate does with a request. */
export interface Decision {
  /** What makes the request public, for strangers too; null where it is protected. A `LaterDecision` finds it when it is read. */
  readonly publicBecause: RequestAdmission | null
  /** The permissions that a protected request needs; null where a known caller is enough. */
  readonly needs: Requirement | null
  /** What the admission of a known caller who holds them is. */
  readonly letsIn: RequestAdmission
}

/**
 * Looks for what makes the request public when that is first read, which for known callers it rarely is. On a route of which
 * rules open some paths a search for each request makes theirs 15 % slower, in process, and twice as slow where a rule needs
 * the linear-time engine (bench/gate.mjs).
 */
export class LaterDecision implements Decision {
  readonly needs: Decision['needs']
  readonly letsIn: RequestAdmission
  readonly #find: () => RequestAdmission | null
  #found: RequestAdmission | null | undefined

  constructor({ needs, letsIn }: Decision, find: () => RequestAdmission | null) {
    this.needs = needs
    this.letsIn = letsIn
    this.#find = find
  }

  get publicBecause(): RequestAdmission | null {
    if (this.#found === undefined) this.#found = this.#find()
    return this.#found
  }
}

/**
 * Who may call a route by one method. `closed`: none of its paths is public. `open`: each of its paths is public. `by path`: those
 * that one of the `rules` matches. A public path is open to everybody where the target is canonical and the route spells it;
 * `otherwise` decides about all others: it needs a known caller, and the permissions that are declared, if any.
 */
export type Policy =
  | { readonly kind: 'closed'; readonly otherwise: Decision }
  | {
      readonly kind: 'open'
      readonly open: Decision
      /** The one target, without its query, that needs no further check; null for a route with parameters. */
      readonly target: string | null
      readonly otherwise: Decision
    }
  | {
      readonly kind: 'by path'
      readonly rules: readonly RegisteredRule[]
      /** Finds the one of them that matches a canonical path. */
      readonly find: (path: string) => RegisteredRule | undefined
      readonly otherwise: Decision
    }
