/** The settings plugin: the order in which its parts come to life. */
import { type Caller, receiveContributions } from '@fastify-modular/core'
import {
  branded,
  currentCommand,
  decorateCommand,
  FMOD_CORE_REGISTERED_TWICE,
  hasOwnDecorator,
  knowsCallers,
  orFinding,
  readCaller,
  report,
  supportedFastify,
} from '@fastify-modular/core/internal'
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { checkAtBoot, checkEncrypted, checkPermissions, reportOverdue, warnAtBoot } from './boot-checks.ts'
import { createSettingsService, type SettingsService } from './create-settings.ts'
import { SettingsBuilder } from './definitions/builder.ts'
import { Registry } from './definitions/registry.ts'
import { createFindEvents, refuseForeignEvents } from './events.ts'
import { declaredPermissions, declareToGate, tightenAccess } from './http/access.ts'
import { addSettingsRoutes } from './http/routes.ts'
import { errorCodes } from './misuse-errors.ts'
import { checkOptions, type SettingsOptions } from './options.ts'
import { readOverrides } from './overrides.ts'
import { readUser, type UserReader } from './reading/reader.ts'
import { Encryption } from './secrets/encryption.ts'
import { memoryStore } from './store/memory.ts'
import { Retention } from './store/retention.ts'
import { portOf } from './store/store.ts'
import { createFindMembership } from './tenants.ts'
import { defaultLimits } from './values/validate.ts'

const settingsPlugin: FastifyPluginAsync<SettingsOptions> = async (app, options) => {
  hasOwnDecorator(app, 'settings') // refuses one of the application
  refuseSecond(app)
  checkOptions(options)
  const boot = createBoot(app, options)
  const { settings, coherence, store, registry, retention, resources, windows } = boot.service
  app.decorate('settings', branded(settings))
  decorateCommand(app)
  app.addHook('onClose', async () => {
    await retention?.stop()
    await windows.close()
    await resources.close()
    await coherence.stop()
    await store.close()
  })
  await open(boot)

  new SettingsBuilder(registry, 'app').addAll(...(options.definitions ?? []))
  registry.groups.translateBy(options, app.log)
  registry.groups.add(options.groups ?? {}, 'the application', app.log)
  receiveContributions(app, 'settingGroups', {
    take: (groups, module) => registry.groups.add(groups, module, app.log),
  })
  receiveContributions(app, 'settings', {
    take(contributed, module) {
      const builder = new SettingsBuilder(registry, module)
      if (typeof contributed === 'function') contributed(builder)
      else builder.addAll(contributed)
    },
    complete: async () => void (await check(boot)),
  })
  decorateRequests(app, boot.service)
  if (options.routes !== false) {
    declareToGate(app, boot.service, options)
    await addRoutes(boot)
  }
  app.addHook('onReady', () => makeReady(boot))
}

/** The settings plugin: `app.register(settings, { definitions: [mail], store: sqlite({ file }) })`. */
export const settings = fp(settingsPlugin, { name: '@fastify-modular/settings', fastify: supportedFastify })

/** The servers that have settings: their scopes share one gate, one receiver of contributions and one permission. */
const served = new WeakSet<object>()

/** @throws {FMOD_CORE_REGISTERED_TWICE} some scope of the application has settings already */
function refuseSecond({ server }: FastifyInstance): void {
  if (served.has(server))
    throw new FMOD_CORE_REGISTERED_TWICE(
      'settings',
      'Register it once, at the root, and pass all definitions to it.',
    )
  served.add(server)
}

/** State that the steps of the boot share. */
interface Boot {
  readonly app: FastifyInstance
  readonly options: SettingsOptions
  readonly service: SettingsService
  /** The store has its tables. */
  isOpen: boolean | undefined
  /** The stored values passed the checks of the boot. A secret in plain text that appears later is not served. */
  isChecked: boolean
  /** The scope of the routes. Its requests have the decorators that the application declared before. */
  routes: FastifyInstance | undefined
  /** Whether @fastify/swagger was there before the routes, which it collects as they are registered. */
  sawSwagger: boolean
}

/** Under a command, missing tables are a finding, and no value is there. */
async function open(boot: Boot): Promise<void> {
  const { store, coherence, log } = boot.service
  const check = { kind: 'missing migration', codes: ['FMOD_SETTINGS_SCHEMA_OUTDATED'] } as const
  if (!store.info.durable)
    report({
      kind: 'memory store',
      text: 'The settings are in the memory of one process: no command sees them.',
    })
  boot.isOpen = await orFinding(check, async () => store.open({ log }).then(() => true))
  if (boot.isOpen) await coherence.start()
}

function createBoot(app: FastifyInstance, options: SettingsOptions): Boot {
  const { store = memoryStore(), limits = {}, history = {}, findCaller = readCaller } = options
  const service = createSettingsService({
    registry: new Registry({ ...defaultLimits, ...limits }, options.tenants !== undefined),
    store: portOf(store),
    encryption: new Encryption(options.encryption?.keys),
    refusesPlain: () => boot.isChecked && options.encryption?.mode === 'require',
    locked: readOverrides(options.overrides),
    selfService: options.selfService ?? false,
    retention:
      history === false || currentCommand()
        ? undefined
        : new Retention({ ...history, store: portOf(store), log: app.log }),
    userCapacity: options.maxCachedUsers ?? 10_000,
    tenantCapacity: options.maxCachedTenants ?? 1000,
    findMembership: options.tenants && createFindMembership(options.tenants),
    findCaller,
    events: createFindEvents(app),
    log: app.log,
  })
  const boot: Boot = {
    app,
    options,
    service,
    isOpen: false,
    isChecked: false,
    routes: undefined,
    sawSwagger: false,
  }
  return boot
}

/** Checks definitions, overrides and secrets. Returns the keys of settings whose secrets are stored in plain text. */
async function check({ service, options, isOpen }: Boot): Promise<readonly string[]> {
  checkAtBoot(service, options)
  return isOpen ? checkEncrypted(service, options) : []
}

/** Once more, and for good: `app.settings.define` may have added settings, or the application has no modules. */
async function makeReady(boot: Boot): Promise<void> {
  const { app, options, service, routes } = boot
  service.registry.freeze()
  checkPermissions(service.registry, declaredPermissions(app))
  const notEncrypted = await check(boot)
  boot.isChecked = true
  service.states() // every setting gets its place in memory before the first request
  refuseForeignEvents(service)
  const knowsCaller = knowsCallers(app, options.findCaller)
  if (knowsCaller && routes !== undefined && !knowsCallers(routes, options.findCaller))
    throw new errorCodes.FMOD_SETTINGS_CALLER_DECLARED_LATER()
  service.resources.check()
  const isDescribed = routes === undefined || boot.sawSwagger || !app.hasDecorator('swagger')
  warnAtBoot(service, options, { knowsCaller, notEncrypted, isDescribed })
  service.retention?.start()
  if (currentCommand()) return boot.isOpen ? reportOverdue(service) : undefined
  // First what was not kept is put back: it may be why a resource could not be made.
  await service.windows.start()
  // Other hooks and the rest of the boot share the time that Fastify gives them.
  const { pluginTimeout = 10_000 } = app.initialConfig
  await service.resources.start(pluginTimeout === 0 ? undefined : pluginTimeout / 2)
}

function addRoutes(boot: Boot) {
  const { app, options, service } = boot
  return app.register(
    async (scope) => {
      boot.routes = scope
      boot.sawSwagger = scope.hasDecorator('swagger')
      tightenAccess(scope, options)
      scope.addHook('onRoute', ({ url }) => service.registry.reserve(url.slice(scope.prefix.length)))
      addSettingsRoutes(scope, { service, options })
      // Autoload sets prefixes by folder: the log shows the resulting address.
      app.log.info({ url: scope.prefix }, 'settings are served')
    },
    { prefix: options.prefix ?? '/api/settings' },
  )
}

/** Adds the decorator: `const settings = await request.settings`. The same reader for the whole request, once its caller is known. */
function decorateRequests(app: FastifyInstance, service: SettingsService): void {
  const readers = new WeakMap<
    FastifyRequest,
    { readonly userId: string | null; reader: Promise<UserReader> }
  >()

  async function read(request: FastifyRequest): Promise<UserReader> {
    const caller = await service.findCaller(request)
    const userId = caller?.id ?? null
    const known = readers.get(request)
    if (known?.userId === userId) return known.reader
    const reader = readFor(service, request, caller)
    readers.set(request, { userId, reader })
    reader.catch(() => readers.delete(request)) // the next one tries again
    return reader
  }

  app.decorateRequest('settings', {
    getter(this: FastifyRequest) {
      const known = readers.get(this)
      // Without a user the caller may not be known yet: a hook may ask before the gate, and the handler after it.
      return known && known.userId !== null ? known.reader : read(this)
    },
  })
}

/** A stranger reads what is public in the tenant. */
async function readFor(
  service: SettingsService,
  request: FastifyRequest,
  caller: Caller | null,
): Promise<UserReader> {
  const tenant = (await service.findMembership?.(request, caller))?.id ?? null
  return readUser(service, { userId: caller?.id ?? null, tenant }, caller === null)
}
