/** Puts the gate in front of an application, and gives it the registry of public routes. */
import { receive } from '@fastify-modular/core'
import { checkCoreVersion, mountingModule, supportedFastify } from '@fastify-modular/core/internal'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { Permissions } from './access/permissions.ts'
import { classifyRequest, createAnswers } from './gate/answers.ts'
import { createForgeryCheck } from './gate/csrf.ts'
import { Decider } from './gate/decide.ts'
import { type FastifyRoute, readFastifyRoutes } from './gate/fastify-routes.ts'
import { createAuthenticate, createGate, readAccess } from './gate/gate.ts'
import {
  AccessEntries,
  checkPermissions,
  declareAccess,
  refuseChanged,
  refuseUndeclared,
  ScopeDefaults,
} from './gate/route-access.ts'
import type { RouteRecord } from './gate/route-record.ts'
import { RouteTable } from './gate/routes.ts'
import { addInitialRules } from './initial-rules.ts'
import { FMOD_PUBLIC_ROUTES_NOT_AT_ROOT, FMOD_PUBLIC_ROUTES_REGISTERED_TWICE } from './misuse-errors.ts'
import { checkOptions, type PublicRoutesOptions } from './options.ts'
import { PublicRouteRegistry } from './registry.ts'
import { audit } from './review/audit.ts'
import { createAttempt } from './review/attempt.ts'
import { createCensus } from './review/census.ts'
import { createExplain, Probes } from './review/explain.ts'
import { describeInSwagger } from './review/openapi.ts'
import { decorateRegistry, scopeName } from './review/public-routes.ts'
import { describeSurface, findOverruled } from './review/surface.ts'
import { RuleSet } from './rules.ts'

const publicRoutesPlugin: FastifyPluginAsync<PublicRoutesOptions> = async (app, options) => {
  checkCoreVersion(import.meta.url)
  checkOptions(options)
  checkPlace(app)
  const { provider, timeout = 5000, captureGuard = 'segments', expectedHooks = [] } = options
  const { access = {}, undeclared = 'protect' } = options
  const { defaults = true, env = process.env, classify = classifyRequest, crossOrigin = false } = options

  const rules = new RuleSet()
  addInitialRules(rules, { defaults, env, legacyPaths: provider.publicPaths ?? [] })
  receive(app, 'publicRoutes', {
    take: (contribute, module) =>
      contribute(new PublicRouteRegistry(rules, `module "${module}"`, '', () => module)),
  })

  const permissions = new Permissions()
  app.decorate('permissions', permissions)
  receive(app, 'permissions', {
    take: (declare, module) => declare(permissions.builder(`module "${module}"`)),
  })
  const entries = new AccessEntries(access)
  const scopeDefaults = new ScopeDefaults(app)
  receive(app, 'access', { take: (declared, module) => scopeDefaults.setForModule(module, declared) })

  const routes = new RouteTable(app)
  app.addHook('onRoute', function recordRoute(route) {
    const declared = routes.add(route, { scope: this, module: mountingModule(this) })
    if (declared !== null) rules.add(declared)
  })

  const decider = new Decider(rules, captureGuard)
  const probes = new Probes(app)
  const explain = createExplain({ probes, rules, routes, decider })
  const all = { rules: rules.rules, records: routes.records, decider }
  const surface = () => describeSurface(all)

  app.decorateRequest('caller', null)
  app.decorateRequest('access', { getter: readAccess })
  const attempt = createAttempt({ probes, rules, routes, decider })
  const census = createCensus({ rules, records: routes.records, decider, attempt })
  const schemes = provider.openapi ?? {}
  decorateRegistry(app, { rules, defaults: scopeDefaults, explain, surface, census, schemes })

  const gate = createGate({
    routes,
    decider,
    authenticate: createAuthenticate(app, { provider, timeout }),
    answers: createAnswers(app, provider, classify),
    isForgeable: crossOrigin === false ? null : createForgeryCheck(crossOrigin === true ? {} : crossOrigin),
    captureProbe: probes.capture,
  })
  app.addHook('onRequest', gate)

  const hadCors = app.hasPlugin('@fastify/cors')
  app.addHook('onReady', async function freezeAndAudit() {
    const listed = readFastifyRoutes(app)
    if (listed !== null) refuseChanged(routes.findChanged(listed))
    const early = addEarlyRoutes(listed ?? [], { routes, rules })
    for (const rule of declareAccess({ records: routes.records, entries, defaults: scopeDefaults }))
      rules.add(rule)
    rules.freeze()
    permissions.freeze()
    scopeDefaults.freeze()
    checkPermissions({ records: routes.records, entries, defaults: scopeDefaults, permissions })
    if (undeclared === 'refuse') refuseUndeclared(routes.records, decider)
    describeInSwagger(app)
    await audit({
      app,
      probes,
      explain,
      surface,
      overruled: findOverruled(all),
      gateName: gate.name,
      loginUrl: provider.loginUrl,
      expectedHooks,
      listed,
      early,
      hadCors,
    })
  })
}

/** Adds the routes that were registered before the gate to the table, and the rules that they state. */
function addEarlyRoutes(
  listed: readonly FastifyRoute[],
  { routes, rules }: { readonly routes: RouteTable; readonly rules: RuleSet },
): readonly RouteRecord[] {
  const early = listed.flatMap((route) => routes.addEarly(route) ?? [])
  for (const { rule } of early) if (rule !== null) rules.add(rule)
  return early.map(({ record }) => record)
}

/** A hook of a child scope covers that scope alone, and no not-found handler. */
function checkPlace(app: FastifyInstance): void {
  if (app.hasDecorator('publicRoutes')) throw new FMOD_PUBLIC_ROUTES_REGISTERED_TWICE()
  const parent: unknown = Object.getPrototypeOf(app) // scopes inherit from each other, the root from a plain object
  if (parent === null || parent === Object.prototype) return
  const [name = ''] = app.pluginName.split(' -> ')
  throw isFile(name)
    ? new FMOD_PUBLIC_ROUTES_NOT_AT_ROOT(name, filesAreScopes)
    : new FMOD_PUBLIC_ROUTES_NOT_AT_ROOT(scopeName(app), '')
}

const filesAreScopes =
  ' fastify-cli and @fastify/autoload register each file as a plugin with a scope of its own: wrap the file that registers the gate and the application file (app.js) that loads it.'

/** Fastify names an anonymous plugin after its file; `default` is the export of an ES module. */
function isFile(name: string): boolean {
  return name === 'default' || /\.[cm]?[jt]s$/.test(name)
}

/**
 * The plugin: `await app.register(publicRoutes, { provider })`, at the root; after the errors plugin, CORS and what the
 * provider needs, before everything that answers.
 */
export const publicRoutes = fp(publicRoutesPlugin, {
  name: '@fastify-modular/public-routes',
  fastify: supportedFastify,
})
