/** Rules about several settings at once, such as "a user name needs a password". */
import type { JsonValue, RuleResult } from '../setting-definition.ts'
import { messagesOf } from '../values/validate.ts'
import type { SettingToken, SettingValue } from './tokens.ts'

/** Tokens by the names under which a rule sees their values. */
export type RuleTokens = Readonly<Record<string, SettingToken<unknown>>>

/** The values that a rule looks at, resolved: locked, stored or default. */
export type RuleValues<M extends RuleTokens> = { readonly [N in keyof M]: SettingValue<M[N]> }

/** A rule as the service asks it: about the values as a write would leave them. */
export interface CrossRule {
  readonly module: string
  readonly keys: readonly string[]
  /**
   * Messages that say what to enter; none if the values go together.
   * @throws {FMOD_SETTINGS_INVALID_RULE_RESULT} the rule returned something else than messages
   */
  check(valueOf: (key: string) => JsonValue): string[]
}

/** Makes the rule of a module out of its tokens and its function. */
export function createRule<M extends RuleTokens>(
  module: string,
  tokens: M,
  check: (values: RuleValues<M>) => RuleResult,
): CrossRule {
  const names = Object.entries(tokens).map(([name, { key }]) => [name, key] as const)
  const keys = names.map(([, key]) => key)
  return {
    module,
    keys,
    check(valueOf) {
      const values = Object.fromEntries(names.map(([name, key]) => [name, valueOf(key)]))
      return messagesOf(check(values as RuleValues<M>), keys.join(', ')) // each value fits its definition
    },
  }
}
