/** Puts the gate in front of an application, and gives it the registry of public routes. */
import { findTestCaller, receive } from '@fastify-modular/core'
import { checkCoreVersion } from '@fastify-modular/core/internal'
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { audit } from './audit/audit.ts'
import { createExplain } from './audit/explain.ts'
import { Probes } from './audit/probe.ts'
import { PublicRoutes, type Diagnostics } from './audit/public-routes.ts'
import { describeSurface } from './audit/surface.ts'
import { environmentVariable, readEnvPaths } from './env-paths.ts'
import { addFrameworkDefaults, frameworkDefault } from './framework-defaults.ts'
import { createAuthenticate, type Authenticate } from './gate/authenticate.ts'
import { createChallenge } from './gate/answers/challenge.ts'
import { classifyRequest } from './gate/answers/classify.ts'
import { createCrossOriginCheck } from './gate/cross-origin.ts'
import { createDecider } from './gate/decide.ts'
import { createGate } from './gate/gate.ts'
import { createAnswerUnavailable } from './gate/answers/unavailable.ts'
import { RouteBook } from './gate/route-book.ts'
import { readRouteTable } from './gate/route-table.ts'
import type { RouteRecord } from './gate/route-record.ts'
import { FMOD_PUBLIC_ROUTES_NOT_AT_ROOT, FMOD_PUBLIC_ROUTES_REGISTERED_TWICE } from './misuse-errors.ts'
import { checkOptions, type PublicRoutesOptions } from './options.ts'
import { PublicRouteRegistry, RuleBook } from './registry.ts'

const publicRoutesPlugin: FastifyPluginAsync<PublicRoutesOptions> = async (app, options) => {
  checkCoreVersion(import.meta.url)
  checkOptions(options)
  checkPlace(app)
  const {
    provider,
    timeout = 5000,
    captureGuard = 'segments',
    classify = classifyRequest,
    expectedHooks = [],
  } = options

  const rules = new RuleBook()
  addInitialRules(rules, options)
  receive(app, 'publicRoutes', {
    take: (contribute, module) => contribute(new PublicRouteRegistry(rules, `module "${module}"`)),
  })

  const routes = new RouteBook(app)
  app.addHook('onRoute', function recordRoute(route) {
    const declared = routes.add(route)
    if (declared !== null) rules.add(declared)
  })

  const decider = createDecider(rules, captureGuard)
  const probes = new Probes(app)
  const recordOf = (request: FastifyRequest) => routes.of(request)
  const explain = createExplain({ probes, book: rules, decider, recordOf })
  const surface = () => describeSurface(rules.rules, routes.records, captureGuard)

  app.decorateRequest('caller', null)
  app.decorateRequest('access', null)
  decorateRegistry(app, rules, { explain, surface })

  const gate = createGate({
    decide: (request) => decider.decide(request, routes.of(request)),
    authenticate: withTestCallers(app, createAuthenticate(provider, timeout)),
    challenge: createChallenge(provider, classify),
    answerUnavailable: createAnswerUnavailable(classify),
    refusesCrossOrigin: options.crossOrigin
      ? createCrossOriginCheck(options.crossOrigin === true ? {} : options.crossOrigin)
      : null,
    intercepts: probes.intercepts,
  })
  app.addHook('onRequest', gate)

  const hadCors = app.hasPlugin('@fastify/cors')
  app.addHook('onReady', async function freezeAndAudit() {
    const early = addEarlyRoutes(app, routes, rules)
    rules.freeze()
    await audit({
      app,
      probes,
      explain,
      surface,
      gateName: gate.name,
      loginUrl: provider.loginUrl,
      expectedHooks,
      early,
      hadCors,
    })
  })
}

/** Rules that are there before anybody adds one: S 5.3.1, S 5.7, S 5.3.3. */
function addInitialRules(
  rules: RuleBook,
  { defaults = true, env = process.env, provider }: PublicRoutesOptions,
): void {
  if (defaults) addFrameworkDefaults(new PublicRouteRegistry(rules, frameworkDefault))
  const fromEnvironment = new PublicRouteRegistry(rules, `environment ${environmentVariable}`)
  for (const route of env === false ? [] : readEnvPaths(env)) fromEnvironment.add(route)
  const legacy = new PublicRouteRegistry(rules, 'provider')
  for (const path of provider.publicPaths ?? []) legacy.addPrefix(path)
}

/** Lists the routes that no onRoute hook announced to the gate; null where Fastify does not show them. */
function addEarlyRoutes(
  app: FastifyInstance,
  routes: RouteBook,
  rules: RuleBook,
): readonly RouteRecord[] | null {
  const early = readRouteTable(app)?.flatMap((route) => routes.addEarly(route) ?? [])
  for (const { rule } of early ?? []) if (rule !== null) rules.add(rule)
  return early?.map(({ record }) => record) ?? null
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

/** Each scope gets the registry that names it as the source of its rules. */
function decorateRegistry(app: FastifyInstance, rules: RuleBook, diagnostics: Diagnostics): void {
  const registries = new WeakMap<FastifyInstance, PublicRoutes>()
  app.decorate('publicRoutes', {
    getter(this: FastifyInstance) {
      let registry = registries.get(this)
      if (registry === undefined) {
        registry = new PublicRoutes(rules, scopeName(this), this.prefix, diagnostics)
        registries.set(this, registry)
      }
      return registry
    },
  })
}

/** `plugin blog`, or `application` for the root. */
function scopeName(scope: FastifyInstance): string {
  if (Object.getPrototypeOf(scope) === Object.prototype) return 'application'
  const [name = ''] = scope.pluginName.split(' -> ') // its own name, then those of plugins that share the scope
  return /^[\w@./ -]{1,80}$/.test(name) ? `plugin ${name}` : `plugin at ${scope.prefix || '/'}`
}

/** Callers of `injectAs` come first where a test called `testCallers`; there is no such thing in production. */
function withTestCallers(app: FastifyInstance, authenticate: Authenticate): Authenticate {
  let find: ReturnType<typeof findTestCaller>
  app.addHook('onReady', async function findTestCallers() {
    find = findTestCaller(app)
  })
  return (request) => find?.(request) ?? authenticate(request)
}

/**
 * The plugin: `await app.register(publicRoutes, { provider })`, at the root; after the errors plugin, CORS and what the
 * provider needs, before everything that answers.
 */
export const publicRoutes = fp(publicRoutesPlugin, { name: '@fastify-modular/public-routes', fastify: '5.x' })
