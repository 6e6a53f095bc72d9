/** Settings before there is an application, and the variables that they can be set by. */
import { Registry } from './definitions/registry.ts'
import type { NamedValues, SettingMap } from './definitions/tokens.ts'
import { checkOverrides, lockedValueOf, readOverrides } from './overrides.ts'

/**
 * Returns the values of tokens, by their names, that hold before any is stored: those of `SM_SETTINGS_OVERRIDES`, else of
 * their variables, else their defaults: `const { port } = readEnvironment({ port: server.port })`.
 * @throws {FMOD_SETTINGS_INVALID_DEFINITIONS} with all problems of the definitions
 * @throws {FMOD_SETTINGS_INVALID_ENVIRONMENT} with all variables that do not fit
 * @throws {FMOD_SETTINGS_INVALID_OVERRIDES} `SM_SETTINGS_OVERRIDES` has values that do not fit
 */
export function readEnvironment<const M extends SettingMap>(tokens: M): NamedValues<M> {
  const registry = new Registry()
  // What is shown when needs definitions that may be elsewhere.
  for (const token of Object.values(tokens)) registry.add({ ...token, showWhen: null }, 'app')
  registry.check()
  const locked = new Map([...readOverrides()].filter(([key]) => registry.find(key)))
  checkOverrides(locked, registry)
  const values = Object.entries(tokens).map(([name, { key }]) => {
    const setting = registry.find(key)
    return [name, setting && (lockedValueOf(setting, locked)?.value ?? setting.defaultValue)]
  })
  return Object.fromEntries(values) as NamedValues<M> // each fits its definition
}

/**
 * Returns the variables of tokens as the text of an `.env.example`: what each is, and its default. No current value, and
 * no default of a sensitive definition.
 */
export function printEnvironment(tokens: SettingMap): string {
  return Object.values(tokens)
    .filter(({ env }) => env)
    .map(({ displayName, description, defaultValue, sensitive, env }) => {
      const isShown = defaultValue !== null && defaultValue !== undefined && sensitive !== true
      const comments = [displayName, description ?? '', isShown ? `Default: ${defaultValue}` : '']
      const lines = comments.flatMap((text) =>
        text === '' ? [] : text.split(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/),
      )
      return [...lines.map((line) => `# ${line}`), `${env}=`, ''].join('\n')
    })
    .join('\n')
}
