/**
 * The access that something else than a route declares for it: the option `access`, and the defaults of modules and
 * plugins. Resolved once for each route and method, when the application is ready.
 */
import { METHODS } from 'node:http'
import { closestName, mountingModule } from '@fastify-modular/core/internal'
import type { FastifyInstance } from 'fastify'
import { parseAccess, requireEvery, type Requirement } from '../access/declaration.ts'
import type { Permissions } from '../access/permissions.ts'
import {
  FMOD_PUBLIC_ROUTES_CONFIG_CHANGED,
  FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_ROUTE,
  FMOD_PUBLIC_ROUTES_INVALID_ACCESS,
  FMOD_PUBLIC_ROUTES_UNDECLARED,
  FMOD_PUBLIC_ROUTES_UNKNOWN_PERMISSION,
} from '../misuse-errors.ts'
import type { RegisteredRule } from '../rules.ts'
import type { Decider } from './decide.ts'
import type { AssignedAccess, RouteRecord } from './route-record.ts'

interface Entry extends AssignedAccess {
  readonly method: string | null
  /** Without the asterisk, where it has one. */
  readonly url: string
  readonly isSubtree: boolean
  hasRoute: boolean
}

const entryKey = /^(?:([A-Za-z-]+) )?(\/.*|\*)$/

/** The option `access`. */
export class AccessEntries {
  /** The most specific first: a whole URL before a subtree, a longer one before a shorter one, a method before none. */
  readonly #entries: readonly Entry[]

  /** @throws {FMOD_PUBLIC_ROUTES_INVALID_ACCESS} */
  constructor(access: Readonly<Record<string, unknown>>) {
    this.#entries = Object.entries(access)
      .map(([key, each]) => toEntry(key, each))
      .toSorted(
        (one, other) =>
          Number(one.isSubtree) - Number(other.isSubtree) ||
          other.url.length - one.url.length ||
          Number(one.method === null) - Number(other.method === null),
      )
  }

  find(record: RouteRecord, method: string): AssignedAccess | undefined {
    const meeting = this.#entries.filter((entry) => meets(entry, record, method))
    for (const entry of meeting) entry.hasRoute = true
    return meeting[0]
  }

  /** @throws {FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_ROUTE} */
  checkAllMet(records: readonly RouteRecord[]): void {
    const unmet = this.#entries.filter(({ hasRoute }) => !hasRoute)
    if (unmet.length === 0) return
    const urls = records.map(({ url }) => url)
    throw new FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_ROUTE(
      unmet
        .map(
          ({ source, url }) => source + suggestion(urls.includes(url) ? undefined : closestName(url, urls)),
        )
        .join(', '),
    )
  }

  get all(): readonly AssignedAccess[] {
    return this.#entries
  }
}

function toEntry(key: string, access: unknown): Entry {
  const source = `option access "${key}"`
  const [, method = null, url = ''] = entryKey.exec(key) ?? []
  const known = method === null || METHODS.includes(method)
  if (url === '' || !known) {
    throw new FMOD_PUBLIC_ROUTES_INVALID_ACCESS(
      source,
      'the key is not a URL such as "/docs/*" or "GET /docs"',
    )
  }
  const isSubtree = url.endsWith('/*')
  const requirement = parseAccess(access, source)
  if (url === '/*' && requirement.kind === 'public') {
    throw new FMOD_PUBLIC_ROUTES_INVALID_ACCESS(source, 'it would open the whole application')
  }
  return { method, url: isSubtree ? url.slice(0, -2) : url, isSubtree, requirement, source, hasRoute: false }
}

function meets({ method, url, isSubtree }: Entry, record: RouteRecord, wanted: string): boolean {
  if (method !== null && method !== wanted) return false
  return record.url === url || (isSubtree && (record.url.startsWith(`${url}/`) || record.url === `${url}/*`))
}

interface ScopeDefault extends AssignedAccess {
  /** The module inside which it was set. */
  readonly module: string | undefined
}

/** The defaults of modules and of encapsulated plugins. */
export class ScopeDefaults {
  readonly #app: FastifyInstance
  readonly #byModule = new Map<string, AssignedAccess>()
  readonly #byScope = new Map<FastifyInstance, ScopeDefault>()
  #isFrozen = false

  constructor(app: FastifyInstance) {
    this.#app = app
  }

  setForModule(module: string, access: unknown): void {
    const source = `default of module "${module}"`
    this.#byModule.set(module, { requirement: parseAccess(access, source), source })
  }

  /** @throws {FMOD_PUBLIC_ROUTES_INVALID_ACCESS} */
  set({
    scope,
    access,
    name,
  }: {
    readonly scope: FastifyInstance
    readonly access: unknown
    readonly name: string
  }): void {
    const source = `default of ${name}`
    const fault = this.#faultOf(scope)
    if (fault !== null) throw new FMOD_PUBLIC_ROUTES_INVALID_ACCESS(source, fault)
    const requirement = parseAccess(access, source)
    this.#byScope.set(scope, { requirement, source, module: mountingModule(scope) })
  }

  /** The nearest default of a plugin inside the module, that of the module, or the nearest one around it. */
  find({ origin }: RouteRecord): AssignedAccess | undefined {
    if (origin === null) return undefined
    const nearest = this.#nearest(origin.scope)
    const ofModule = origin.module === undefined ? undefined : this.#byModule.get(origin.module)
    if (nearest === undefined || ofModule === undefined) return nearest ?? ofModule
    return nearest.module === origin.module ? nearest : ofModule
  }

  freeze(): void {
    this.#isFrozen = true
  }

  get all(): readonly AssignedAccess[] {
    return [...this.#byModule.values(), ...this.#byScope.values()]
  }

  #nearest(scope: FastifyInstance): ScopeDefault | undefined {
    for (let at: unknown = scope; isScope(at); at = Object.getPrototypeOf(at)) {
      const found = this.#byScope.get(at)
      if (found !== undefined) return found
    }
    return undefined
  }

  #faultOf(scope: FastifyInstance): string | null {
    if (scope === this.#app) return 'the root has no default; use the option undeclared, or the option access'
    if (this.#byScope.has(scope)) return 'the plugin has one already'
    return this.#isFrozen ? 'the application is ready' : null
  }
}

/** Scopes inherit from each other, the root from a plain object. */
function isScope(value: unknown): value is FastifyInstance {
  return typeof value === 'object' && value !== null && value !== Object.prototype
}

interface Declarations {
  readonly records: readonly RouteRecord[]
  readonly entries: AccessEntries
  readonly defaults: ScopeDefaults
}

/**
 * Declares the access of every method of every route that does not declare its own; returns the rules that open routes.
 * @throws {FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_ROUTE}
 */
export function declareAccess({ records, entries, defaults }: Declarations): readonly RegisteredRule[] {
  const rules: RegisteredRule[] = []
  for (const record of records) {
    for (const method of record.derivedFrom === undefined ? record.methods : []) {
      const entry = entries.find(record, method) // also for routes with their own: the entry has met one
      if (record.ownRequirement(method) !== undefined) continue
      const access = entry ?? defaults.find(record)
      const rule = access === undefined ? null : record.assign(method, access)
      if (rule !== null) rules.push(rule)
    }
  }
  for (const record of records) {
    const { derivedFrom } = record
    if (derivedFrom === undefined || record.get !== undefined) continue
    if (derivedFrom.methods.every((method) => derivedFrom.ownRequirement(method) !== undefined)) continue
    const rule = assignHead(record, derivedFrom)
    if (rule !== null) rules.push(rule)
  }
  entries.checkAllMet(records)
  return rules
}

/** The HEAD route of a route that serves other methods as well needs what any of them needs. */
function assignHead(record: RouteRecord, route: RouteRecord): RegisteredRule | null {
  const requirement = requireEvery(route.methods.map((method) => route.requirement(method)))
  if (requirement === undefined || (requirement.kind === 'public' && record.isClosed('HEAD'))) return null
  return record.assign('HEAD', { requirement, source: 'the methods of its route' })
}

/** @throws {FMOD_PUBLIC_ROUTES_UNKNOWN_PERMISSION} */
export function checkPermissions({
  records,
  entries,
  defaults,
  permissions,
}: Declarations & { readonly permissions: Permissions }): void {
  const named = [
    ...records.flatMap((record) => namedByRoute(record)),
    ...[...entries.all, ...defaults.all].flatMap(({ requirement, source }) => namedBy(requirement, source)),
  ]
  const unknown = named.filter(({ name }) => !permissions.has(name))
  if (unknown.length === 0) return
  throw new FMOD_PUBLIC_ROUTES_UNKNOWN_PERMISSION(
    unknown
      .map(({ name, place }) => `"${name}" by ${place}${suggestion(permissions.closestTo(name))}`)
      .join(', '),
  )
}

interface Named {
  readonly name: string
  readonly place: string
}

function namedByRoute(record: RouteRecord): readonly Named[] {
  if (record.derivedFrom !== undefined) return []
  const own = record.methods.flatMap((method) => {
    const requirement = record.ownRequirement(method)
    return requirement === undefined ? [] : namedBy(requirement, `${method} ${record.url}`)
  })
  const { documents, methods, url } = record
  return documents === undefined ? own : [...own, { name: documents, place: `${methods.join(',')} ${url}` }]
}

function namedBy({ clauses }: Requirement, place: string): readonly Named[] {
  return clauses.flat().map((name) => ({ name, place }))
}

function suggestion(meant: string | undefined): string {
  return meant === undefined ? '' : ` (did you mean "${meant}"?)`
}

/** @throws {FMOD_PUBLIC_ROUTES_CONFIG_CHANGED} */
export function refuseChanged(changed: readonly RouteRecord[]): void {
  if (changed.length === 0) return
  throw new FMOD_PUBLIC_ROUTES_CONFIG_CHANGED(
    changed.map(({ methods, url }) => `${methods.join(',')} ${url}`).join(', '),
  )
}

/**
 * Refuses to start while nothing says who may call a route: no declaration, and no rule that opens every path of it.
 * @throws {FMOD_PUBLIC_ROUTES_UNDECLARED} with all of them
 */
export function refuseUndeclared(records: readonly RouteRecord[], decider: Decider): void {
  const undeclared = records.flatMap((record) =>
    record.methods
      .filter(
        (method) =>
          record.derivedFrom === undefined && !isPreflight(record) && !isDeclared(record, method, decider),
      )
      .map((method) => `- ${method} ${record.url}${ofModule(record)}${onlySome(record, method, decider)}`),
  )
  if (undeclared.length > 0) throw new FMOD_PUBLIC_ROUTES_UNDECLARED(undeclared.join('\n'))
}

function isDeclared(record: RouteRecord, method: string, decider: Decider): boolean {
  if (record.requirement(method) !== undefined) return true
  const { opens, ownPath } = decider.verdictOf(record, method)
  return opens === 'every path' || ownPath.rule !== null
}

function ofModule({ origin }: RouteRecord): string {
  return origin?.module === undefined ? '' : ` (module "${origin.module}")`
}

function onlySome(record: RouteRecord, method: string, decider: Decider): string {
  return decider.verdictOf(record, method).opens === 'some paths' ? ': a rule opens some of its paths' : ''
}

/** The route that @fastify/cors registers, so that the router takes preflight requests. */
export function isPreflight({ url, methods }: RouteRecord): boolean {
  return url === '*' && methods.length === 1 && methods[0] === 'OPTIONS'
}
