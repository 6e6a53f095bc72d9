/** In which scopes a setting has values. */
import { ArgumentException } from '@fastify-modular/core'
import { type CompleteDefinition, SettingScope, type SharedScope } from './setting-definition.ts'

type Scoped = Pick<CompleteDefinition, 'scope'>

/** By the scope of the definition; the value that holds for everybody first. */
const places: Readonly<Record<SettingScope, readonly [SharedScope, ...SettingScope[]]>> = {
  [SettingScope.System]: [SettingScope.System],
  [SettingScope.Application]: [SettingScope.Application],
  [SettingScope.User]: [SettingScope.Application, SettingScope.User],
  [SettingScope.Tenant]: [SettingScope.Application, SettingScope.Tenant],
}

const names: Readonly<Record<SettingScope, string>> = {
  [SettingScope.System]: 'System (0)',
  [SettingScope.Application]: 'Application (1)',
  [SettingScope.User]: 'User (2)',
  [SettingScope.Tenant]: 'Tenant (3)',
}

/** The scopes in which values of a definition live: first that of everybody's value, then those of stronger ones. */
export function placesOf({ scope }: Scoped): readonly [SharedScope, ...SettingScope[]] {
  return places[scope]
}

/** Whether values of a definition live in a scope. Rows of another one may be older than the definition: nothing reads them. */
export function isPlaceOf(definition: Scoped | undefined, scope: SettingScope): boolean {
  return definition !== undefined && placesOf(definition).includes(scope)
}

/** @throws {ArgumentException} values of the definition live in other scopes */
export function requirePlace(
  definition: Pick<CompleteDefinition, 'key' | 'scope'>,
  scope: SettingScope,
): void {
  const fitting = placesOf(definition)
  if (fitting.includes(scope)) return
  const list = fitting.map((each) => names[each]).join(' or ')
  throw new ArgumentException(`The setting "${definition.key}" has its value in the scope ${list}.`, 'scope')
}
