/** Decides what a caller may see of settings, for the routes and for code in process. */
import { type Caller, ForbiddenException, hasPermission } from '@fastify-modular/core'
import { type CompleteDefinition, SettingScope } from './setting-definition.ts'

/** The permission to write settings, and to see their history. */
export const updatePermission = 'Settings.Update'

/**
 * @param scopes of the rows, and of their definitions where rows may be older
 * @throws {ForbiddenException} the caller may not change settings, or not these
 */
export function requireUpdater(caller: Caller, scopes: readonly (SettingScope | undefined)[] = []): void {
  if (!hasPermission(caller, updatePermission))
    throw new ForbiddenException(`This needs the permission ${updatePermission}.`)
  if (scopes.includes(SettingScope.System)) requireAdmin(caller)
}

/** Whether the caller has the permission that a definition names for writing its shared value. */
export function mayWrite(
  caller: Caller | null,
  { writePermission }: Pick<CompleteDefinition, 'writePermission'>,
): boolean {
  return writePermission === null || hasPermission(caller, writePermission)
}

/**
 * Asks for the permissions that definitions name for writing their shared values.
 * @throws {ForbiddenException} the caller lacks one
 */
export function requireWritePermissions(
  caller: Caller,
  definitions: readonly Pick<CompleteDefinition, 'key' | 'writePermission'>[],
): void {
  for (const definition of definitions)
    if (!mayWrite(caller, definition))
      throw new ForbiddenException(
        `Changing the setting "${definition.key}" needs the permission ${definition.writePermission}.`,
      )
}

/** @throws {ForbiddenException} the caller is not an administrator */
export function requireAdmin(caller: Caller): void {
  if (caller.isAdmin !== true) throw new ForbiddenException('Only administrators may change System settings.')
}

/** A row, as far as it matters who sees it; without a scope that of the definition. */
interface Place {
  readonly scope?: SettingScope | undefined
  /** Of User scope. */
  readonly userId?: string | undefined
  /** Of Tenant scope: such rows are for who may write them in that tenant, whom the routes of tenants let in. */
  readonly tenant?: string | undefined
}

/** What one caller may see. */
export interface Visibility {
  /** Whether the current value is shown: to signed-in callers always, to others if it is public. */
  value(definition: Pick<CompleteDefinition, 'public'>): boolean
  /** Whether the caller may write the shared value. */
  write(definition: Pick<CompleteDefinition, 'scope' | 'writePermission'>): boolean
  /**
   * Whether stored values are shown, in history, changes and exports. The scope of the definition counts as well as that
   * of the row, which may be older: System rows are for administrators, users' rows for their owners.
   */
  record(definition: Pick<CompleteDefinition, 'scope'> | undefined, place?: Place): boolean
}

/**
 * The caller whom an option names: `visibleTo` of reads, `as` of writes; undefined where the option is absent.
 * @throws {ForbiddenException} the option is present without a caller
 */
export function namedCaller<const N extends 'visibleTo' | 'as'>(
  options: { readonly [K in N]?: Caller },
  name: N,
): Caller | undefined {
  if (!Object.hasOwn(options, name)) return undefined
  const caller = options[name]
  if (!caller) throw new ForbiddenException(`This needs the permission ${updatePermission}.`)
  return caller
}

/** What the host decided for all callers. */
interface VisibilityOptions {
  /** Whether users may see and change their own values without the permission. @default false */
  readonly selfService?: boolean
}

/** @param caller null: not signed in */
export function visibleTo(
  caller: Caller | null,
  { selfService = false }: VisibilityOptions = {},
): Visibility {
  const mayUpdate = caller !== null && hasPermission(caller, updatePermission)
  const isAdmin = mayUpdate && caller.isAdmin === true
  return {
    value: (definition) => caller !== null || definition.public,
    write: (definition) =>
      (definition.scope === SettingScope.System ? isAdmin : mayUpdate) && mayWrite(caller, definition),
    record(definition, { scope = definition?.scope, userId, tenant } = {}) {
      if (tenant !== undefined) return false
      const isOfUsers = scope === SettingScope.User && (definition?.scope ?? scope) === SettingScope.User
      if (selfService && isOfUsers && userId !== undefined && userId === caller?.id) return true
      if (!mayUpdate) return false
      if (scope === SettingScope.User && userId !== undefined && userId !== caller.id) return false
      return isAdmin || (scope !== SettingScope.System && definition?.scope !== SettingScope.System)
    },
  }
}

/** @throws {ForbiddenException} the caller may not see these stored values */
export function requireVisible(
  caller: Caller,
  definition: Pick<CompleteDefinition, 'scope'> | undefined,
  place: Place,
  options: VisibilityOptions,
): void {
  if (visibleTo(caller, options).record(definition, place)) return
  requireUpdater(caller)
  throw new ForbiddenException(
    place.userId === undefined || place.userId === caller.id
      ? 'Only administrators may see what was stored in System settings.'
      : "Only the user may see the history of a user's own settings.",
  )
}
