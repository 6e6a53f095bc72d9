/** What a route, a module or the option `access` declares: who may call. Parsed once, at boot. */
import { METHODS } from 'node:http'
import { type Caller, hasPermission } from '@fastify-modular/core'
import { FMOD_PUBLIC_ROUTES_INVALID_ACCESS } from '../misuse-errors.ts'

/**
 * Who may call: `public` is every caller, `signed-in` every known one; other texts name a permission that a module
 * declares. `{ allOf }` needs all of its permissions, `{ anyOf }` one of them.
 */
export type Access =
  | 'public'
  | 'signed-in'
  | (string & {})
  | { readonly allOf: readonly string[]; readonly anyOf?: undefined }
  | { readonly anyOf: readonly string[]; readonly allOf?: undefined }

/** Access by HTTP method, in upper case: `{ GET: 'public', POST: 'Notes.Edit' }`. */
export interface AccessByMethod {
  readonly [method: string]: Access
}

/** An `Access` that was checked. Immutable. */
export interface Requirement {
  readonly kind: 'public' | 'signed-in' | 'permission'
  /** Empty for `public` and `signed-in`. */
  readonly permissions: readonly string[]
  /** `Notes.Edit`, `all of Notes.Edit, Notes.Import`. */
  readonly text: string
  /** What the caller lacks, as the end of a sentence: `the permission Notes.Edit`; null where nothing is missing. */
  readonly missing: (caller: Caller) => string | null
}

/** The access that a route declares in its own configuration. */
export interface RouteAccess {
  /** The requirement of a method that the route serves; undefined where the route does not state one. */
  for(method: string): Requirement | undefined
}

const lacksNothing = (): null => null

export const isPublic: Requirement = Object.freeze({
  kind: 'public',
  permissions: [],
  text: 'public',
  missing: lacksNothing,
})
const isSignedIn: Requirement = Object.freeze({
  kind: 'signed-in',
  permissions: [],
  text: 'signed-in',
  missing: lacksNothing,
})

const permissionName = /^[\w.:/-]{1,100}$/

/** Why a text cannot be the name of a permission; null where it can. */
export function faultOfPermission(name: unknown): string | null {
  if (typeof name !== 'string') return 'it is not a string'
  if (name === 'public' || name === 'signed-in' || METHODS.includes(name.toUpperCase())) {
    return 'the word is reserved'
  }
  if (permissionName.test(name)) return null
  return 'a name has 1 to 100 letters, digits and the characters . _ : / -'
}

/**
 * Reads an access that is not by method.
 * @param place what declares it, for the message
 * @throws {FMOD_PUBLIC_ROUTES_INVALID_ACCESS}
 */
export function parseAccess(access: unknown, place: string): Requirement {
  if (access === 'public') return isPublic
  if (access === 'signed-in') return isSignedIn
  if (typeof access === 'string') return requirePermissions('one', [checkedName(access, place)])
  if (typeof access !== 'object' || access === null) throw invalid(place, `it is ${JSON.stringify(access)}`)
  const [[mode, names] = [], ...others] = Object.entries(access) as [string, unknown][]
  if ((mode !== 'allOf' && mode !== 'anyOf') || others.length > 0) {
    throw invalid(place, `its members are ${Object.keys(access).join(', ') || 'missing'}`)
  }
  if (!Array.isArray(names) || names.length === 0)
    throw invalid(place, `${mode} is not a list of permissions`)
  return requirePermissions(
    mode,
    names.map((name: unknown) => checkedName(name, place)),
  )
}

/**
 * Reads the access of a route, for all methods that it serves or by method.
 * @throws {FMOD_PUBLIC_ROUTES_INVALID_ACCESS}
 */
export function parseRouteAccess(access: unknown, served: readonly string[], place: string): RouteAccess {
  if (!isByMethod(access)) {
    const requirement = parseAccess(access, place)
    return { for: () => requirement }
  }
  const byMethod = new Map<string, Requirement>()
  for (const [method, each] of Object.entries(access)) {
    if (!served.includes(method)) throw invalid(place, `the route does not serve ${method}`)
    byMethod.set(method, parseAccess(each, `${place} for ${method}`))
  }
  return { for: (method) => byMethod.get(method) }
}

/**
 * What satisfies all of these at once: public where all are, undefined where none is declared. An undeclared one needs a
 * known caller.
 */
export function requireEvery(requirements: readonly (Requirement | undefined)[]): Requirement | undefined {
  const declared = requirements.filter((requirement) => requirement !== undefined)
  if (declared.length === 0) return undefined
  if (requirements.every((requirement) => requirement?.kind === 'public')) return isPublic
  const needed = [...new Set(declared.filter(({ kind }) => kind === 'permission'))]
  const [first = isSignedIn] = needed
  if (needed.length < 2) return first
  return Object.freeze({
    kind: 'permission',
    permissions: needed.flatMap(({ permissions }) => permissions),
    text: needed.map(({ text }) => text).join(' and '),
    missing: (caller: Caller) =>
      needed.reduce<string | null>((lack, { missing }) => lack ?? missing(caller), null),
  })
}

/** Whether a declaration states an access for each of some methods. */
export function isByMethod(access: unknown): access is Readonly<Record<string, unknown>> {
  if (typeof access !== 'object' || access === null || Array.isArray(access)) return false
  const names = Object.keys(access)
  return names.length > 0 && names.every((name) => METHODS.includes(name))
}

function requirePermissions(mode: 'one' | 'allOf' | 'anyOf', names: readonly string[]): Requirement {
  const permissions = Object.freeze([...new Set(names)])
  const [first = '', ...others] = permissions
  if (others.length === 0) {
    const lack = `the permission ${first}`
    const missing = (caller: Caller) => (hasPermission(caller, first) ? null : lack)
    return Object.freeze({ kind: 'permission', permissions, text: first, missing })
  }
  const isAny = mode === 'anyOf'
  return Object.freeze({
    kind: 'permission',
    permissions,
    text: `${isAny ? 'any' : 'all'} of ${permissions.join(', ')}`,
    missing: isAny ? missingAny(permissions) : missingAll(permissions),
  })
}

function missingAny(permissions: readonly string[]): Requirement['missing'] {
  return (caller) => {
    const isHeld = permissions.some((permission) => hasPermission(caller, permission))
    return isHeld ? null : `one of the permissions ${permissions.join(', ')}`
  }
}

function missingAll(permissions: readonly string[]): Requirement['missing'] {
  return (caller) => {
    const lacking = permissions.filter((permission) => !hasPermission(caller, permission))
    if (lacking.length === 0) return null
    return `the permission${lacking.length > 1 ? 's' : ''} ${lacking.join(', ')}`
  }
}

function checkedName(name: unknown, place: string): string {
  const fault = faultOfPermission(name)
  if (typeof name === 'string' && fault === null) return name
  throw invalid(place, `${JSON.stringify(name)} is not a permission: ${fault}`)
}

function invalid(place: string, reason: string): Error {
  return new FMOD_PUBLIC_ROUTES_INVALID_ACCESS(place, reason)
}
