/** Settings without an application, for unit tests of what takes `Settings`. */
import type { FastifyBaseLogger } from 'fastify'
import { SettingsBuilder } from '../definitions/builder.ts'
import { Registry } from '../definitions/registry.ts'
import type { SettingMap, ValuesOf } from '../definitions/tokens.ts'
import { createSettingsService } from '../create-settings.ts'
import type { Settings } from '../settings.ts'
import { Encryption } from '../secrets/encryption.ts'
import { memoryStore } from '../store/memory.ts'
import { portOf } from '../store/store.ts'
import { overrideAll } from './override-settings.ts'

/**
 * Makes the settings of some tokens, in memory: `new Mailer(fakeSettings(mail, { 'mail.port': 25 }))`. The given
 * values are fixed; all others have their defaults and can be written, with the same checks as in an application.
 * @throws {FMOD_SETTINGS_INVALID_DEFINITIONS} a definition is wrong
 * @throws {FMOD_SETTINGS_CANNOT_OVERRIDE} a value does not fit, or has no definition
 */
export function fakeSettings<M extends SettingMap>(tokens: M, values: Partial<ValuesOf<M>> = {}): Settings {
  const registry = new Registry()
  new SettingsBuilder(registry, 'test').addAll(tokens)
  registry.check()
  const { settings, resources } = createSettingsService({
    registry,
    store: portOf(memoryStore()),
    encryption: new Encryption([]),
    refusesPlain: () => false,
    locked: new Map(),
    selfService: false,
    tenantCapacity: 1,
    findMembership: undefined,
    findCaller: () => null,
    userCapacity: 10_000,
    events: () => undefined,
    log: silentLog,
  })
  overrideAll(settings, values)
  void resources.start() // those that are added are made at once
  return settings
}

/** A log that drops everything. */
export const silentLog: FastifyBaseLogger = {
  level: 'silent',
  silent: () => {},
  trace: () => {},
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  fatal: () => {},
  child: () => silentLog,
}
