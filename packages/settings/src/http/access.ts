/** The caller of a request, what the caller may do, and what a write records of it. */
import { type Caller, UnauthorizedException } from '@fastify-modular/core'
import {
  declareAccess,
  getDecorator,
  hasOwnDecorator,
  isThenable,
  refuseOptions,
  safeRead,
} from '@fastify-modular/core/internal'
import type { FastifyInstance, FastifyRequest, onRequestHookHandler, preValidationHookHandler } from 'fastify'
import { InvalidScopeException, SettingValidationException } from '../exceptions.ts'
import type { FindCaller, SettingsOptions } from '../options.ts'
import type { Parts } from '../parts.ts'
import { type FindMembership, tenantPermission } from '../tenants.ts'
import { requireUpdater, updatePermission } from '../visibility.ts'
import { SettingScope } from '../setting-definition.ts'
import type { WriteOptions } from '../write/write.ts'
import { parseScope } from './schemas.ts'

interface Fact {
  readonly about: string
  readonly is: string
}

interface Permissions {
  has(permission: string): boolean
  addAll(permissions: Readonly<Record<string, object>>, source: string): void
  /** What opens something beside routes: rows of the file that `expectAccess` compares with. */
  addFacts(read: (stranger: FastifyRequest | null) => Promise<readonly Fact[]>): void
}

const permissions = {
  [updatePermission]: {
    displayName: 'Change settings',
    description: 'Change Application settings, and see their history; System settings need an administrator.',
  },
}

const ofTenants = {
  displayName: 'Change settings of an organisation',
  description: 'Change what the members of an organisation share, and see its history.',
}

/** Of the requests that the gate sends itself. */
const strangersHaveTenant: Fact = {
  about: 'requests without credentials',
  is: 'have a tenant, and read its public settings',
}

/** Returns whether the host names a tenant for a request that carries nothing; a failure is one warning. */
function createHasTenant(
  app: FastifyInstance,
  findMembership: FindMembership | undefined,
): (stranger: FastifyRequest | null) => Promise<boolean> {
  let hasFailed = false
  return async function hasTenant(stranger) {
    if (!stranger || !findMembership) return false
    try {
      return (await findMembership(stranger, null)) !== null
    } catch (error) {
      if (!hasFailed)
        app.log.warn(
          { err: error },
          'tenants.of failed for a request without a caller, and so does every read of public settings by a stranger: return null where nobody is signed in',
        )
      hasFailed = true
      return false
    }
  }
}

/** Declares the permissions, for role editors, and public settings to the gate of public-routes; it may be registered after this plugin. */
export function declareToGate(
  app: FastifyInstance,
  { registry, findMembership }: Pick<Parts, 'registry' | 'findMembership'>,
  { tenants }: Pick<SettingsOptions, 'tenants'>,
): void {
  const hasTenant = createHasTenant(app, findMembership)
  const declare = (): void => {
    const gate = declaredPermissions(app)
    gate?.addAll(permissions, 'plugin settings')
    // One that the host names is the host's to declare.
    if (tenants && tenants.permission === undefined)
      gate?.addAll({ [tenantPermission]: ofTenants }, 'plugin settings')
    gate?.addFacts(async (stranger) => {
      const open = registry.getDefinitions().filter((definition) => definition.public)
      return [
        ...((await hasTenant(stranger)) ? [strangersHaveTenant] : []),
        ...open.map(({ key }) => ({ about: `setting ${key}`, is: 'public' })),
      ]
    })
  }
  if (declaredPermissions(app)) return declare()
  app.addHook('onReady', async function declareToLaterGate() {
    declare() // the gate's own hook, which reads the permissions, comes after this one
  })
}

/** The permissions that the gate of public-routes knows; undefined without one. */
export function declaredPermissions(app: FastifyInstance): Permissions | undefined {
  const hasGate = hasOwnDecorator(app, 'publicRoutes') && hasOwnDecorator(app, 'permissions')
  return hasGate ? getDecorator<Permissions>(app, 'permissions') : undefined
}

/** @throws {FMOD_CORE_INVALID_OPTION} the option `access` says nothing, or there is no gate to enforce it */
export function tightenAccess(scope: FastifyInstance, options: Parameters<typeof declareAccess>[1]): void {
  const fault = declareAccess(scope, options)
  if (fault !== null) refuseOptions('the settings plugin', [fault])
}

/** Holds the caller on the requests of the routes' scope. */
const decorator = 'settingsCaller'

/** Adds the decorator to a scope. */
export function decorateCaller(scope: FastifyInstance): void {
  scope.decorateRequest(decorator, null)
}

/**
 * An onRequest hook for the scope of the routes: answers 401 to requests without a caller before anything else is
 * looked at. All routes are closed but the one with `openRoute`.
 */
export function authenticateWith(find: FindCaller): onRequestHookHandler {
  return function authenticate(request, _reply, done) {
    if (isOpen(request)) return done()
    const admit = (found: Caller | null): void => {
      if (!isCaller(found)) {
        if (typeof safeRead(found, 'id') === 'number')
          request.log.warn('the id of a caller is a number, which counts as not signed in: return it as text')
        return done(new UnauthorizedException())
      }
      Reflect.set(request, decorator, found)
      done()
    }
    // Always an error: `undefined` or `null`, with which a promise may reject, would let the request through.
    const refuse = (reason: unknown): void =>
      done(
        reason instanceof Error
          ? reason
          : new Error('The settings option findCaller failed.', { cause: reason }),
      )
    try {
      const found = find(request)
      if (isThenable(found)) found.then(admit).then(undefined, refuse)
      else admit(found)
    } catch (reason) {
      refuse(reason)
    }
  }
}

const mark = Symbol('@fastify-modular/settings/open')

/** The configuration of the route that needs no caller; the gate reads `access`. */
export const openRoute = { access: 'public', [mark]: true } as const

/** Hooks of the host can close the open route by `config.access`, and open no other one. */
function isOpen({ routeOptions: { config } }: FastifyRequest): boolean {
  return mark in config && 'access' in config && config.access === 'public'
}

/** The caller that `authenticate` admitted, or on the open route the one that is found. */
export async function findAdmitted(request: FastifyRequest, find: FindCaller): Promise<Caller | null> {
  const admitted = getDecorator<Caller | null>(request, decorator)
  if (admitted) return admitted
  const found = await find(request)
  return isCaller(found) ? found : null
}

/** The caller that `authenticate` admitted. */
export function callerOf(request: FastifyRequest): Caller {
  const caller = getDecorator<Caller | null>(request, decorator)
  if (!caller) throw new UnauthorizedException() // a route without the hook: closed, not open
  return caller
}

/** @throws {ForbiddenException} the caller may not change settings, or not these */
export function requireUpdate(
  request: FastifyRequest,
  scopes: readonly (SettingScope | undefined)[] = [],
): Caller {
  const caller = callerOf(request)
  requireUpdater(caller, scopes)
  return caller
}

/** A caller without an identity counts as not signed in. */
function isCaller(caller: Caller | null | undefined): caller is Caller {
  return typeof caller?.id === 'string' && caller.id !== '' && caller.id.length <= 255
}

/** Where the API is for a request, such as `/api/settings`: a prefix may have parameters. */
export function addressFor({ server, params }: FastifyRequest): string {
  const toSegment = (_: string, name: string): string => encodeURIComponent(String(safeRead(params, name)))
  return server.prefix.replace(/\/$/, '').replaceAll(/:(\w+)/g, toSegment)
}

/** Refuses scopes of owners with an `InvalidScopeException`, before the rest of the request is checked. */
export const refuseUserScope: preValidationHookHandler = (request, _reply, done) => {
  const { body, query, server } = request
  const list = safeRead(body, 'settings') ?? body // of an import, of a bulk
  const items: readonly unknown[] = Array.isArray(list) ? list : [body, query]
  const scopes = items.map((item) => parseScope(safeRead(item, 'scope')))
  const address = addressFor(request)
  if (scopes.includes(SettingScope.User)) return done(new InvalidScopeException(`${address}/me`))
  const tenants = `${server.prefix.replace(/\/$/, '')}/tenant`
  if (scopes.includes(SettingScope.Tenant) && server.hasRoute({ method: 'PUT', url: tenants }))
    return done(new InvalidScopeException(`${address}/tenant`, 'tenant'))
  done()
}

/** @throws {SettingValidationException} a body lists more entries than one request may have */
export function refuseTooMany(name: 'bulk' | 'import', entries: readonly unknown[], limit: number): void {
  if (entries.length > limit)
    throw new SettingValidationException(name, [`Send at most ${limit} entries at once.`])
}

/** The origin of a write, as history and events record it. */
export function writeOptionsOf(request: FastifyRequest): WriteOptions {
  return { actor: callerOf(request).id, origin: 'api', requestId: String(request.id).slice(0, 200) }
}
