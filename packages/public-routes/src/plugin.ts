/** Puts the gate in front of an application, and gives it the registry of public routes. */
import { receiveContributions } from '@fastify-modular/core'
import { branded, hasOwnDecorator, mountingModule, supportedFastify } from '@fastify-modular/core/internal'
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
import { addInitialRules, environmentVariable } from './initial-rules.ts'
import { FMOD_PUBLIC_ROUTES_NOT_AT_ROOT, FMOD_PUBLIC_ROUTES_REGISTERED_TWICE } from './misuse-errors.ts'
import { checkOptions, type PublicRoutesOptions } from './options.ts'
import { createAuthenticate } from './provider.ts'
import { decorateRegistry, PublicRouteRegistry, scopeName } from './registry.ts'
import { createAccess } from './review/access.ts'
import { createAttempt, type Review, reviewDecorator } from './review/attempt.ts'
import { audit, type EarlierHooks, findEarlierHooks } from './review/audit.ts'
import {
  checkEffect,
  checkPermissions,
  type Claim,
  refuseLoosening,
  refuseUndeclared,
} from './review/boot-checks.ts'
import { createExplain } from './review/explain.ts'
import { createAskForGuest, listFacts, warnOfGuest } from './review/facts.ts'
import { Probes, takeProbe } from './review/probes.ts'
import { createTable } from './review/table.ts'
import { findWarnings, openedByEnvironment } from './review/warnings.ts'
import type { RegisteredRule } from './rules.ts'

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
  const entries = new AccessEntries(options.access ?? {}, isCaseSensitive(app))
  const moduleAccess = new Map<string, Declared>()
  receiveContributions(app, 'access', {
    take: (access, module) => void moduleAccess.set(module, declareForModule(access, module)),
  })

  const routes = new RouteTable(app)
  routes.addEarly(app)
  app.addHook('onRoute', function recordRoute(route) {
    routes.add(route, { scope: this, module: mountingModule(this) })
  })

  const policies = new Policies(rules)
  const probes = new Probes(app)
  const authenticate = createAuthenticate(app, { provider, timeout })
  const explain = createExplain({ probes, rules, routes, policies })
  const table = createTable({ rules, routes, policies })
  app.decorateRequest('caller', null)
  app.decorateRequest('admission', { getter: readAdmission })
  decorateRegistry(app, rules)
  app.decorate('access', createAccess({ table, explain, schemes: provider.openapi ?? {} }))
  const askForGuest = createAskForGuest(probes, authenticate)
  let hooks: EarlierHooks = { names: [], unnamed: 0 }
  app.decorate(reviewDecorator, {
    attempt: createAttempt(probes, routes),
    facts: async () =>
      listFacts({ hooks, csrf, guests, contributed: permissions.facts(), guest: await askForGuest() }),
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
    const claims = assignAccess(routes.all, entries, moduleAccess)
    Object.freeze(rules)
    permissions.freeze()
    policies.build(routes.all)
    checkPermissions({ routes: routes.all, entries, modules: moduleAccess, permissions })
    refuseLoosening(claims, moduleAccess)
    checkEffect({ entries, claims, policies, log: app.log })
    if (undeclared === 'refuse') refuseUndeclared(routes.all, policies)
    await audit({ app, probes, explain, hooks, loginUrl: provider.loginUrl, hadCors })
    for (const { message, rules: about } of findWarnings(rules, routes.all, policies)) {
      app.log.warn({ rules: about }, message)
    }
    const opened = openedByEnvironment(routes.all, policies)
    if (opened.length > 0)
      app.log.warn({ routes: opened }, `the environment variable ${environmentVariable} opens routes`)
    if (!guests) void warnOfGuest(app, askForGuest)
  })
}

function declareForModule(access: unknown, module: string): Declared {
  const source = `access of module "${module}"`
  return { requirement: parseAccess(access, source), source, by: 'module' }
}

/**
 * Declares for the methods of routes what the option and the modules say. Returns what the option says.
 * @throws {FMOD_PUBLIC_ROUTES_ACCESS_WITHOUT_ROUTE}
 */
function assignAccess(
  routes: readonly Route[],
  entries: AccessEntries,
  modules: ReadonlyMap<string, Declared>,
): readonly Claim[] {
  const claims: Claim[] = []
  for (const route of routes.filter(({ derivedFrom }) => derivedFrom === undefined)) {
    const ofModule = modules.get(route.origin?.module ?? '')
    for (const method of route.methods) {
      const entry = entries.find(route, method)
      if (entry !== undefined) claims.push({ entry, route, method })
      if (ofModule !== undefined && route.accessOfPlugin !== undefined) route.tighten(method, ofModule)
      for (const declared of [entry, ofModule]) if (declared !== undefined) route.assign(method, declared)
    }
  }
  entries.checkAllUsed(routes.map(({ url }) => url))
  return claims
}

function isCaseSensitive({ initialConfig }: FastifyInstance): boolean {
  return (initialConfig.routerOptions?.caseSensitive ?? initialConfig.caseSensitive) !== false
}

/** A hook of a child scope covers that scope alone, and no not-found handler. */
function checkPlace(app: FastifyInstance): void {
  for (const name of ['access', 'permissions']) hasOwnDecorator(app, name) // refuses those of the application
  if (hasOwnDecorator(app, 'publicRoutes')) throw new FMOD_PUBLIC_ROUTES_REGISTERED_TWICE()
  const parent: unknown = Object.getPrototypeOf(app) // scopes inherit from each other, the root from a plain object
  if (parent === null || parent === Object.prototype) return
  throw new FMOD_PUBLIC_ROUTES_NOT_AT_ROOT(scopeName(app))
}

/**
 * The plugin: `await app.register(publicRoutes, { provider })`. Register it at the root: after the errors plugin, CORS and what
 * the provider needs, before everything that answers.
 */
export const publicRoutes = fp(publicRoutesPlugin, {
  name: '@fastify-modular/public-routes',
  fastify: supportedFastify,
})
