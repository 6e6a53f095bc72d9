/** The checks before the application serves requests: mistakes stop the boot, doubts are logged. */
import type { Events } from '@fastify-modular/core'
import type { FastifyBaseLogger } from 'fastify'
import type { Registry } from './definitions/registry.ts'
import {
  FMOD_SETTINGS_ENCRYPTION_REQUIRED,
  FMOD_SETTINGS_MISSING_ENCRYPTION_KEYS,
  FMOD_SETTINGS_NOT_ENCRYPTED,
} from './misuse-errors.ts'
import type { SettingsOptions } from './options.ts'
import type { SharedValues } from './memory/shared-values.ts'
import { checkOverrides, type Locked } from './overrides.ts'
import type { Encryption } from './secrets/encryption.ts'
import { type CompleteDefinition, SettingScope } from './setting-definition.ts'
import type { Settings } from './settings.ts'
import type { SettingsStore } from './store/store.ts'

/** What all checks look at. */
interface BootState {
  readonly registry: Registry
  readonly sharedValues: SharedValues
  readonly encryption: Encryption
  readonly options: SettingsOptions
}

/**
 * Checks definitions, overrides and keys together, once all modules have contributed.
 * @throws {FMOD_SETTINGS_INVALID_DEFINITIONS} with all problems
 * @throws {FMOD_SETTINGS_INVALID_OVERRIDES} with all problems
 * @throws {FMOD_SETTINGS_MISSING_ENCRYPTION_KEYS} stored values are encrypted with unknown keys
 * @throws {FMOD_SETTINGS_ENCRYPTION_REQUIRED} there is no key
 */
export function checkAtBoot({
  registry,
  sharedValues,
  encryption,
  options,
  locked,
}: BootState & { readonly locked: Locked }): void {
  registry.check()
  checkOverrides(locked, registry)
  const lost = [...sharedValues.rows()].filter(
    (row) => row.encrypted && !encryption.knows(encryption.keyIdOf(row.value)),
  )
  if (lost.length > 0) {
    throw new FMOD_SETTINGS_MISSING_ENCRYPTION_KEYS(
      lost.map((row) => `"${row.key}" with "${encryption.keyIdOf(row.value)}"`).join(', '),
    )
  }
  const unprotected = secretsWithoutKey(registry, encryption)
  if (options.encryption?.mode === 'require' && unprotected.length > 0)
    throw new FMOD_SETTINGS_ENCRYPTION_REQUIRED(unprotected.join(', '))
}

interface EncryptedCheck extends BootState {
  readonly store: Pick<SettingsStore, 'survey'>
  readonly settings: Pick<Settings, 'refresh'>
}

/**
 * Looks for sensitive settings with a stored text that is not encrypted: a value, or an earlier one in the history, which
 * has the newest text of every value. Returns their keys. None where no encryption key is configured: `checkAtBoot` reports that.
 * @throws {FMOD_SETTINGS_NOT_ENCRYPTED} there are some, and encryption is required
 */
export async function checkEncrypted({
  registry,
  sharedValues,
  encryption,
  options,
  store,
  settings,
}: EncryptedCheck): Promise<readonly string[]> {
  if (encryption.activeKeyId === null) return []
  const keys = sensitiveSettings(registry).map(({ key }) => key)
  if (keys.length === 0) return []
  const isRequired = options.encryption?.mode === 'require'

  async function findPlain(): Promise<readonly string[]> {
    const found = new Set((await store.survey({ secret: keys })).plain)
    const isSensitive = new Set(keys)
    for (const { key, encrypted } of sharedValues.rows())
      if (!encrypted && isSensitive.has(key)) found.add(key)
    return [...found].toSorted()
  }

  let plain = await findPlain()
  if (plain.length > 0 && isRequired) {
    // Another instance may have encrypted what is plain in memory, which leaves no trace in the history.
    await settings.refresh()
    plain = await findPlain()
  }
  if (plain.length > 0 && isRequired) throw new FMOD_SETTINGS_NOT_ENCRYPTED(plain.join(', '))
  return plain
}

interface WarningInit extends BootState {
  readonly store: SettingsStore
  readonly events: Events | undefined
  /** Whether the settings routes can identify callers. */
  readonly knowsCaller: boolean
  /** Whether OpenAPI documents of the application have the routes of settings. */
  readonly isDescribed: boolean
  /** The keys that `checkEncrypted` returned. */
  readonly notEncrypted: readonly string[]
}

/** Logs what is legal and probably not meant. */
export function warnAtBoot(log: FastifyBaseLogger, init: WarningInit): void {
  const { registry, sharedValues, options, store, events, knowsCaller } = init
  for (const warning of registry.warnings()) log.warn(warning)
  if (!store.info.durable)
    log.warn({ store: store.info.name }, 'settings are not persisted: they are gone when the process ends')
  if (!knowsCaller && options.routes !== false) {
    log.warn(
      'the settings routes cannot identify callers: they answer 401. Register public-routes, or set the option caller',
    )
  }
  if (!init.isDescribed)
    log.warn(
      'the OpenAPI document has no settings routes: register @fastify/swagger before settings, and await it',
    )
  warnOfReadableSecrets(log, init)
  const orphans = new Set([...sharedValues.rows()].map(({ key }) => key).filter((key) => !registry.find(key)))
  if (orphans.size > 0)
    log.warn(
      { keys: [...orphans] },
      'values are stored for settings that no module defines; they are kept and not shown',
    )
  if (events?.transactional && events.transactional !== store.info.transactional) {
    log.warn(
      { store: store.info.name },
      'the event transport cannot join transactions of the settings store: events are published after the commit',
    )
  }
}

function warnOfReadableSecrets(
  log: FastifyBaseLogger,
  { registry, encryption, options, notEncrypted }: WarningInit,
): void {
  const unprotected = secretsWithoutKey(registry, encryption)
  if (unprotected.length > 0)
    log.warn(
      { keys: unprotected },
      'sensitive settings are stored in plain text: no encryption key is configured',
    )
  if (notEncrypted.length > 0) {
    log.warn(
      { keys: notEncrypted },
      'sensitive settings are stored in plain text, as values or in the history: call app.settings.reencrypt() once',
    )
  }
  if (options.routes === false || (options.resolvedSecrets ?? 'signed-in') !== 'signed-in') return
  const exposed = sensitiveSettings(registry).filter(({ scope }) => scope !== SettingScope.System)
  if (exposed.length > 0) {
    log.warn(
      { keys: exposed.map(({ key }) => key) },
      'every signed-in caller can read these sensitive settings at /resolved; see the option resolvedSecrets',
    )
  }
}

/** The sensitive settings whose values are stored in plain text because there is no key to encrypt them. */
function secretsWithoutKey(registry: Registry, { activeKeyId }: Encryption): string[] {
  return activeKeyId === null ? sensitiveSettings(registry).map(({ key }) => key) : []
}

function sensitiveSettings(registry: Registry): CompleteDefinition[] {
  return registry.getDefinitions().filter(({ sensitive }) => sensitive)
}
