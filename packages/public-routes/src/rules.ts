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
