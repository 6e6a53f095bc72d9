/** The settings plugin: the order in which its parts come to life. */
import { receive } from '@fastify-modular/core'
import {
  checkCoreVersion,
  createFindCaller,
  findCallerOf,
  supportedFastify,
} from '@fastify-modular/core/internal'
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { checkAtBoot, checkSealed, warnAtBoot } from './boot-checks.ts'
import { createSettingsService } from './create-settings.ts'
import { SettingsBuilder } from './definitions/builder.ts'
import { Registry } from './definitions/registry.ts'
import { createFindEvents, verifyEvents } from './events.ts'
import { authenticateWith, declarePermission } from './http/access.ts'
import { addSettingsRoutes } from './http/routes.ts'
import type { FindCaller } from './http-options.ts'
import { FMOD_SETTINGS_CALLER_DECLARED_LATER, FMOD_SETTINGS_REGISTERED_TWICE } from './misuse-errors.ts'
import { checkOptions, type SettingsOptions } from './options.ts'
import { readOverrides } from './overrides.ts'
import type { UserReader } from './reading/reader.ts'
import { createSealing } from './secrets/sealing.ts'
import type { Settings } from './settings.ts'
import { memoryStore } from './store/memory.ts'
import { Retention } from './store/retention.ts'
import { defaultLimits } from './values/validate.ts'

const settingsPlugin: FastifyPluginAsync<SettingsOptions> = async (app, options) => {
  checkCoreVersion(import.meta.url)
  if (app.hasDecorator('settings')) throw new FMOD_SETTINGS_REGISTERED_TWICE()
  checkOptions(options)
  const { store = memoryStore(), limits = {}, history = {} } = options
  const registry = new Registry({ ...defaultLimits, ...limits })
  const sealing = createSealing(options.encryption?.keys)
  const locked = readOverrides(options.overrides)
  const events = createFindEvents(app)
  /** Whether the stored values passed the checks of the boot: a secret in plain text that appears later is not served. */
  let isChecked = false
  const retention = history === false ? undefined : new Retention({ ...history, store, log: app.log })
  const service = createSettingsService({
    registry,
    store,
    sealing,
    refusesPlain: () => isChecked && options.encryption?.mode === 'require',
    locked,
    retention,
    userCapacity: options.userCache ?? 10_000,
    events,
    log: app.log,
  })
  const { settings, coherence, sharedValues } = service

  app.decorate('settings', settings)
  app.addHook('onClose', async () => {
    await retention?.stop()
    await coherence.stop()
    await store.close()
  })
  await store.open({ log: app.log })
  await coherence.start()

  const check = (): void => checkAtBoot({ registry, sharedValues, sealing, locked: locked.values, options })
  const findNotSealed = (): Promise<readonly string[]> =>
    checkSealed({ registry, sharedValues, sealing, options, store, settings })
  new SettingsBuilder(registry, 'app').addAll(...(options.definitions ?? []))
  receive(app, 'settings', {
    take: (contribute, module) => contribute(new SettingsBuilder(registry, module)),
    complete: async () => {
      check()
      await findNotSealed()
    },
  })

  const findCaller = createFindCaller(app, options.caller)
  decorateRequests(app, settings, findCaller)
  /** The scope of the routes. Its requests have the decorators that the application declared before. */
  let routes: FastifyInstance | undefined
  if (options.routes !== false) {
    declarePermission(app)
    await addRoutes(app)
  }

  app.addHook('onReady', async () => {
    // Again: `app.settings.define` may have added settings since, or the application has no modules.
    check()
    registry.freeze()
    const notSealed = await findNotSealed()
    isChecked = true
    service.states() // every setting gets its place in memory before the first request
    const bus = events()
    if (bus) await verifyEvents(store, bus)
    const knowsCaller = findCallerOf(app, options.caller) !== undefined
    if (knowsCaller && routes !== undefined && findCallerOf(routes, options.caller) === undefined) {
      throw new FMOD_SETTINGS_CALLER_DECLARED_LATER()
    }
    warnAtBoot(app.log, {
      registry,
      sharedValues,
      sealing,
      store,
      events: bus,
      options,
      knowsCaller,
      notSealed,
    })
    retention?.start()
  })

  function addRoutes(parent: FastifyInstance) {
    const { prefix = '/api/settings' } = options.routes || {}
    return parent.register(
      (scope, _options, done) => {
        routes = scope
        addSettingsRoutes(scope, {
          service,
          authenticate: authenticateWith(findCaller),
          ownWrites: options.ownWrites ?? 'permission',
          sensitiveResolved: options.sensitiveResolved ?? 'spec',
          translation: options.translate && { translate: options.translate, locales: options.locales ?? [] },
          maxBulkEntries: limits.bulkEntries ?? 500,
          maxBulkBytes: limits.bulkBytes ?? 512 * 1024,
        })
        done()
      },
      { prefix },
    )
  }
}

/** The settings plugin: `app.register(settings, { definitions: [mail], store: sqlite({ file }) })`. */
export const settings = fp(settingsPlugin, { name: '@fastify-modular/settings', fastify: supportedFastify })

/** Adds the decorator: `const settings = await request.settings`. The same reader for the whole request, once its caller is known. */
function decorateRequests(app: FastifyInstance, settings: Settings, findCaller: FindCaller): void {
  const readers = new WeakMap<FastifyRequest, Promise<UserReader>>()
  /** Of requests whose caller is not known yet, or that have none: a hook may ask before the gate, and the handler after it. */
  const anonymous = new WeakMap<FastifyRequest, UserReader>()

  async function read(request: FastifyRequest): Promise<UserReader> {
    const caller = await findCaller(request)
    if (caller) return readers.get(request) ?? readAs(caller.id, request)
    const reader = anonymous.get(request) ?? (await settings.forUser(null))
    anonymous.set(request, reader)
    return reader
  }

  function readAs(userId: string, request: FastifyRequest): Promise<UserReader> {
    const reader = settings.forUser(userId)
    readers.set(request, reader)
    reader.catch(() => readers.delete(request)) // the next one tries again
    return reader
  }

  app.decorateRequest('settings', {
    getter(this: FastifyRequest) {
      return readers.get(this) ?? read(this)
    },
  })
}
