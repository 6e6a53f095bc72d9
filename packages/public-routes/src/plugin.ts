/** Puts the gate in front of an application, and gives it the registry of public routes. */
import { receiveContributions } from '@fastify-modular/core'
import {
  accessOfPlugin,
  branded,
  currentCommand,
  hasOwnDecorator,
  mountingModule,
  refuseSecond,
  supportedFastify,
} from '@fastify-modular/core/internal'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { type Declared, parseAccess } from './access/declaration.ts'
import { AccessEntries } from './access/entries.ts'
import { DeclaredPermissions } from './access/permissions.ts'
import { classifyRequest, createAnswers } from './gate/answers.ts'
import { createForgeryCheck } from './gate/csrf.ts'
import { createDecide, createGate, readAdmission } from './gate/gate.ts'
import { Policies } from './gate/policy.ts'
import { readRouter, type Route, RouteTable } from './gate/routes.ts'
import { addInitialRules } from './initial-rules.ts'
import { errorCodes } from './misuse-errors.ts'
import { checkOptions, type PublicRoutesOptions } from './options.ts'
import { createAuthenticate } from './provider.ts'
import { PublicRouteRegistry, scopeName } from './registry.ts'
import { createAccess } from './review/access.ts'
import { createAttempt, type Review, reviewDecorator } from './review/attempt.ts'
import { audit, findEarlierHooks } from './review/audit.ts'
import { checkDeclarations, type Claim, refuseUndeclared } from './review/boot-checks.ts'
import { askAsStranger, listFacts, warnOfGuests } from './review/facts.ts'
import { takeProbe } from './review/probes.ts'
import { warnOfRules } from './review/warnings.ts'
import type { RegisteredRule } from './rule.ts'

const publicRoutesPlugin: FastifyPluginAsync<PublicRoutesOptions> = async (app, options) => {
  checkOptions(options)
  checkPlace(app)
  const { provider, timeout = 5000, undeclared = 'protect' } = options
  const { defaults = true, env = process.env, classify = classifyRequest } = options
  const { csrf = false, guests = false } = options

  const rules: RegisteredRule[] = []
  addInitialRules(rules, { defaults, env, provider })
  receiveContributions(app, 'publicRoutes', {
    take: (contribute, module) =>
      contribute(new PublicRouteRegistry(rules, `module "${module}"`, () => module)),
  })
  const permissions = new DeclaredPermissions()
  permissions.addAll(options.permissions ?? {}, 'application')
  app.decorate('permissions', branded(permissions))
  receiveContributions(app, 'permissions', {
    take: (contributed, module) => permissions.addAll(contributed, `module "${module}"`),
  })
  const entries = new AccessEntries(options.access ?? {}, app)
  const modules = new Map<string, Declared>()
  receiveContributions(app, 'access', {
    take(access, module) {
      const source = `access of module "${module}"`
      modules.set(module, { requirement: parseAccess(access, source), source, by: 'module' })
    },
  })

  const routes = new RouteTable(app)
  routes.addEarly(app)
  app.addHook('onRoute', function recordRoute(route) {
    routes.add(route, { scope: this, module: mountingModule(this) })
  })

  const policies = new Policies(rules)
  const parts = { app, rules, routes, policies }
  const authenticate = createAuthenticate(app, { provider, timeout })
  const asked = { app, authenticate, permissions }
  app.decorateRequest('caller', null)
  app.decorateRequest('admission', { getter: readAdmission })
  app.decorate('publicRoutes', {
    // Each scope is the source of its rules.
    getter(this: FastifyInstance) {
      return branded(new PublicRouteRegistry(rules, scopeName(this), () => mountingModule(this)))
    },
  })
  app.decorate('access', createAccess(parts, provider.openapi ?? {}))
  let hooks: readonly string[] = []
  app.decorate(reviewDecorator, {
    attempt: createAttempt(app, routes),
    facts: async () => listFacts(options, { hooks, ...(await askAsStranger(asked)) }),
  } satisfies Review)

  const gate = createGate({
    decide: createDecide(routes, policies),
    authenticate,
    answers: createAnswers(app, provider, classify),
    isForgeable: csrf === false ? null : createForgeryCheck(csrf === true ? {} : csrf),
    takeProbe,
  })
  app.addHook('onRequest', gate)

  const hadCors = app.hasPlugin('@fastify/cors')
  app.addHook('onReady', async function decideAndAudit() {
    const listed = readRouter(app) ?? []
    routes.checkComplete(listed)
    hooks = findEarlierHooks(listed, gate.name)
    const claims = assignAccess(routes.all, entries, modules)
    Object.freeze(rules)
    permissions.freeze()
    policies.build(routes.all)
    checkDeclarations({ routes: routes.all, entries, claims, modules, permissions, policies })
    if (undeclared === 'refuse') refuseUndeclared(routes.all, policies)
    await audit(app, { hooks, loginUrl: provider.loginUrl, hadCors })
    warnOfRules(parts)
    if (!guests && !currentCommand()) void warnOfGuests(asked)
  })
}

/**
 * What the option `access` of a plugin of ours says about its routes; undefined for the routes of others.
 * @throws {FMOD_PUBLIC_ROUTES_INVALID_ACCESS} it would open them, or is none
 */
function declareForPlugin({ origin }: Route): Declared | undefined {
  const access: unknown = origin === null ? undefined : Reflect.get(origin.scope, accessOfPlugin)
  if (access === undefined) return undefined
  const source = `option access of the plugin at ${origin?.scope.prefix}`
  const requirement = parseAccess(access, source)
  if (requirement.kind !== 'public') return { requirement, source, by: 'route' }
  throw new errorCodes.FMOD_PUBLIC_ROUTES_INVALID_ACCESS(
    source,
    'it asks for more than a known caller, or for one',
  )
}

/**
 * Declares for the methods of routes what the option and the modules say. A route of a plugin of ours declares the least that it
 * needs, and also needs what the plugin's own option and the module around it ask for. Returns what the option says.
 */
function assignAccess(
  routes: readonly Route[],
  entries: AccessEntries,
  modules: ReadonlyMap<string, Declared>,
): readonly Claim[] {
  const claims: Claim[] = []
  for (const route of routes.filter(({ derivedFrom }) => derivedFrom === undefined)) {
    const ofModule = modules.get(route.origin?.module ?? '')
    const ofPlugin = declareForPlugin(route)
    const stricter = ofPlugin === undefined ? [] : [ofPlugin, ofModule]
    for (const method of route.methods) {
      const naming = entries.naming(route, method)
      claims.push(...naming.map((entry, at) => ({ entry, route, method, counts: at === 0 })))
      for (const declared of stricter) if (declared !== undefined) route.tighten(method, declared)
      for (const declared of [naming[0], ofModule]) if (declared !== undefined) route.assign(method, declared)
    }
  }
  return claims
}

/** A hook of a child scope covers that scope alone, and no not-found handler. */
function checkPlace(app: FastifyInstance): void {
  for (const name of ['access', 'permissions']) hasOwnDecorator(app, name) // refuses those of the application
  const advice = 'Register it once, at the root; combine providers with combineProviders([...]).'
  refuseSecond(app, { decorator: 'publicRoutes', plugin: 'public-routes', advice })
  const parent: unknown = Object.getPrototypeOf(app) // scopes inherit from each other, the root from a plain object
  if (parent === null || parent === Object.prototype) return
  throw new errorCodes.FMOD_PUBLIC_ROUTES_NOT_AT_ROOT(scopeName(app))
}

/**
 * The plugin: `await app.register(publicRoutes, { provider })`. Register it at the root: after the errors plugin, CORS and what
 * the provider needs, before everything that answers.
 */
export const publicRoutes = fp(publicRoutesPlugin, {
  name: '@fastify-modular/public-routes',
  fastify: supportedFastify,
})
