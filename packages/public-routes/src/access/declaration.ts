/** What a route, a module or the option `access` declares: who may call. Parsed once, at boot. */
import { METHODS } from 'node:http'
import { type Caller, hasPermission } from '@fastify-modular/core'
import { errorCodes, nameOfValue } from '../misuse-errors.ts'
import { firstPlace, type Place } from './precedence.ts'

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
  /** A caller needs one permission of each list. Empty for `public` and `signed-in`. */
  readonly clauses: readonly Clause[]
  /** `Notes.Edit`, `Notes.Edit and Notes.Import`, `Notes.Edit and (Ops.Read or Ops.Write)`. */
  readonly text: string
}

/** Permissions of which one is enough. */
type Clause = readonly string[]

/** The declared access of a method of a route. */
export interface Declared {
  readonly requirement: Requirement
  /** `route config`, `option access "GET /metrics"`, `access of module "notes"`. */
  readonly source: string
  readonly by: Place
}

const isPublic: Requirement = Object.freeze({ kind: 'public', clauses: [], text: 'public' })
const isSignedIn: Requirement = Object.freeze({ kind: 'signed-in', clauses: [], text: 'signed-in' })

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

/** @throws {FMOD_PUBLIC_ROUTES_INVALID_ACCESS} the text is not a name of a permission */
export function parsePermission(name: unknown, place: string): string {
  const fault = faultOfPermission(name)
  if (typeof name === 'string' && fault === null) return name
  throw new errorCodes.FMOD_PUBLIC_ROUTES_INVALID_ACCESS(
    place,
    `${nameOfValue(name)} is not a permission: ${fault}`,
  )
}

/**
 * Reads an access that is not by method.
 * @param place what declares it, for the message
 * @throws {FMOD_PUBLIC_ROUTES_INVALID_ACCESS}
 */
export function parseAccess(access: unknown, place: string): Requirement {
  if (access === 'public') return isPublic
  if (access === 'signed-in') return isSignedIn
  if (typeof access === 'string') return requirePermissions([[parsePermission(access, place)]])
  if (typeof access !== 'object' || access === null) throw invalid(place, `it is ${nameOfValue(access)}`)
  if (Array.isArray(access)) throw invalid(place, 'it is an array; use { anyOf: [...] } or { allOf: [...] }')
  const [[mode, names] = [], ...others] = Object.entries(access) as [string, unknown][]
  if ((mode !== 'allOf' && mode !== 'anyOf') || others.length > 0) {
    throw invalid(place, `its members are ${Object.keys(access).join(', ') || 'missing'}`)
  }
  if (!Array.isArray(names) || names.length === 0)
    throw invalid(place, `${mode} is not a list of permissions`)
  const checked = Array.from(names, (name: unknown) => parsePermission(name, place))
  return requirePermissions(mode === 'anyOf' ? [checked] : checked.map((name) => [name]))
}

/**
 * Reads the access in the configuration of a route, for all methods that it serves or by method.
 * @throws {FMOD_PUBLIC_ROUTES_INVALID_ACCESS}
 */
export function parseRouteAccess(
  access: unknown,
  served: readonly string[],
  place: string,
): readonly (readonly [method: string, declared: Declared])[] {
  const declare = (requirement: Requirement): Declared => ({
    requirement,
    source: 'route config',
    by: 'route',
  })
  if (!isByMethod(access)) {
    const declared = declare(parseAccess(access, place))
    return served.map((method) => [method, declared])
  }
  return Object.entries(access).map(([method, each]) => {
    if (!served.includes(method)) throw invalid(place, `the route does not serve ${method}`)
    return [method, declare(parseAccess(each, `${place} for ${method}`))]
  })
}

/**
 * What declares the access of a handler that may take a request for any of several methods: it needs what each of them
 * needs, and a known caller where one declares nothing.
 */
export function declareEvery(methods: readonly (Declared | undefined)[]): Declared | undefined {
  const declared = methods.filter((each) => each !== undefined)
  if (methods.length === 1 || declared.length === 0) return declared[0]
  return {
    requirement: requireEach(methods.map((each) => each?.requirement ?? isSignedIn)),
    source: 'combination of its methods',
    by: firstPlace(declared.map(({ by }) => by)),
  }
}

/** What a caller needs who has to meet all of these. */
export function requireEach(requirements: readonly Requirement[]): Requirement {
  if (requirements.every(({ kind }) => kind === 'public')) return isPublic
  return requirePermissions(requirements.flatMap(({ clauses }) => clauses))
}

/** Whether whoever meets the first requirement meets the other one, too. */
export function isAtLeast(one: Requirement, other: Requirement): boolean {
  if (one.kind === 'public') return other.kind === 'public'
  return other.clauses.every((wanted) =>
    one.clauses.some((clause) => clause.every((permission) => wanted.includes(permission))),
  )
}

/** What a known caller lacks, as the end of a sentence: `the permission Notes.Edit`; null where nothing is missing. */
export function missingOf({ clauses }: Requirement, caller: Caller): string | null {
  const lacking = clauses.filter((clause) => !clause.some((permission) => hasPermission(caller, permission)))
  if (lacking.length === 0) return null
  const [first = [], ...others] = lacking
  if (others.length > 0) return `the permissions ${textOf(lacking)}`
  return first.length > 1 ? `one of the permissions ${first.join(', ')}` : `the permission ${first.join()}`
}

/** The requirement that a `text` spells. */
export function requirementOfText(text: string): Requirement {
  if (text === 'public') return isPublic
  if (text === 'signed-in') return isSignedIn
  return requirePermissions(text.split(' and ').map((clause) => clause.replace(/[()]/g, '').split(' or ')))
}

/** Whether a declaration states an access for each of some methods. */
function isByMethod(access: unknown): access is Readonly<Record<string, unknown>> {
  if (typeof access !== 'object' || access === null || Array.isArray(access)) return false
  const names = Object.keys(access)
  return names.length > 0 && names.every((name) => METHODS.includes(name))
}

function requirePermissions(wanted: readonly Clause[]): Requirement {
  const clauses = [...new Map(wanted.map((clause) => [clause.join(), [...new Set(clause)]])).values()]
  if (clauses.length === 0) return isSignedIn
  return Object.freeze({ kind: 'permission', clauses, text: textOf(clauses) })
}

function textOf(clauses: readonly Clause[]): string {
  const isAlone = clauses.length === 1
  return clauses
    .map((clause) => (clause.length === 1 || isAlone ? clause.join(' or ') : `(${clause.join(' or ')})`))
    .join(' and ')
}

const waysOut =
  'Use "public", "signed-in", a permission, { allOf: [...] } or { anyOf: [...] }; a route may also state one of these for each of its methods: { GET: "public" }'

function invalid(place: string, reason: string): Error {
  return new errorCodes.FMOD_PUBLIC_ROUTES_INVALID_ACCESS(place, `${reason}. ${waysOut}`)
}
