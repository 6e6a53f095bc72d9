/** In which scopes a setting has values. */
import { ArgumentException } from '@fastify-modular/core'
import { type CompleteDefinition, SettingScope, type SharedScope } from './setting-definition.ts'

/** The value that holds for everybody first, then stronger ones. */
export type Places = readonly [SharedScope, ...SettingScope[]]

/** A registered setting, as far as it matters where its values are. */
export interface Placed {
  readonly definition: Pick<CompleteDefinition, 'key'>
  readonly places: Places
}

/** By the scope of the definition. */
const places: Readonly<Record<SettingScope, Places>> = {
  [SettingScope.System]: [SettingScope.System],
  [SettingScope.Application]: [SettingScope.Application],
  [SettingScope.User]: [SettingScope.Application, SettingScope.Tenant, SettingScope.User],
  [SettingScope.Tenant]: [SettingScope.Application, SettingScope.Tenant],
}

const names: Readonly<Record<SettingScope, string>> = {
  [SettingScope.System]: 'System (0)',
  [SettingScope.Application]: 'Application (1)',
  [SettingScope.User]: 'User (2)',
  [SettingScope.Tenant]: 'Tenant (3)',
}

/** The scopes in which values of a definition live; without the option `tenants` no tenant has any. */
export function placesOf({ scope }: Pick<CompleteDefinition, 'scope'>, hasTenants: boolean): Places {
  const [shared, ...others] = places[scope]
  return [shared, ...others.filter((each) => hasTenants || each !== SettingScope.Tenant)]
}

/** Whether values of a setting live in a scope. Rows of another one may be older than the definition: nothing reads them. */
export function isPlaceOf(setting: Pick<Placed, 'places'> | undefined, scope: SettingScope): boolean {
  return setting !== undefined && setting.places.includes(scope)
}

/** @throws {ArgumentException} values of the setting live in other scopes */
export function requirePlace({ definition, places: fitting }: Placed, scope: SettingScope): void {
  if (fitting.includes(scope)) return
  const list = fitting.map((each) => names[each]).join(' or ')
  throw new ArgumentException(`The setting "${definition.key}" has its value in the scope ${list}.`, 'scope')
}
