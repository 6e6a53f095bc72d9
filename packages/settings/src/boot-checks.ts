/** The checks before the application serves requests: mistakes stop the boot, doubts are logged. */
import type { Events } from '@fastify-modular/core'
import type { FastifyBaseLogger } from 'fastify'
import type { Registry } from './definitions/registry.ts'
import {
  FMOD_SETTINGS_ENCRYPTION_REQUIRED,
  FMOD_SETTINGS_MISSING_SEALING_KEYS,
  FMOD_SETTINGS_NOT_SEALED,
} from './misuse-errors.ts'
import type { SettingsOptions } from './options.ts'
import type { SharedValues } from './memory/shared-values.ts'
import { checkOverrides, type Locked } from './overrides.ts'
import type { Sealing } from './secrets/sealing.ts'
import { type CompleteDefinition, SettingScope } from './setting-definition.ts'
import type { Settings } from './settings.ts'
import type { SettingsStore } from './store/store.ts'

/** What all checks look at. */
interface BootState {
  readonly registry: Registry
  readonly sharedValues: SharedValues
  readonly sealing: Sealing
  readonly options: SettingsOptions
}

/**
 * Checks definitions, overrides and keys together, once all modules have contributed.
 * @throws {FMOD_SETTINGS_INVALID_DEFINITIONS} with all problems
 * @throws {FMOD_SETTINGS_INVALID_OVERRIDES} with all problems
 * @throws {FMOD_SETTINGS_MISSING_SEALING_KEYS} stored values are sealed with unknown keys
 * @throws {FMOD_SETTINGS_ENCRYPTION_REQUIRED} there is no key
 */
export function checkAtBoot({
  registry,
  sharedValues,
  sealing,
  options,
  locked,
}: BootState & { readonly locked: Locked }): void {
  registry.check()
  checkOverrides(locked, registry)
  const lost = [...sharedValues.rows()].filter(
    (row) => row.sealed && !sealing.knows(sealing.keyIdOf(row.value)),
  )
  if (lost.length > 0) {
    throw new FMOD_SETTINGS_MISSING_SEALING_KEYS(
      lost.map((row) => `"${row.key}" with "${sealing.keyIdOf(row.value)}"`).join(', '),
    )
  }
  const unprotected = secretsWithoutKey(registry, sealing)
  if (options.encryption?.mode === 'require' && unprotected.length > 0)
    throw new FMOD_SETTINGS_ENCRYPTION_REQUIRED(unprotected.join(', '))
}

interface SealedCheck extends BootState {
  readonly store: Pick<SettingsStore, 'findPlainHistory'>
  readonly settings: Pick<Settings, 'rewrap' | 'refresh'>
}

/**
 * Looks for sensitive settings with a stored text that is not sealed: a value, or an earlier one in the history, which
 * has the newest text of every value. Seals them with the option `sealAtBoot`, and returns the keys of those that are
 * left. None where no sealing key is configured: `checkAtBoot` reports that.
 * @throws {FMOD_SETTINGS_NOT_SEALED} some are left, and encryption is required
 */
export async function checkSealed({
  registry,
  sharedValues,
  sealing,
  options,
  store,
  settings,
}: SealedCheck): Promise<readonly string[]> {
  if (sealing.activeKeyId === null) return []
  const keys = sensitiveSettings(registry).map(({ key }) => key)
  if (keys.length === 0) return []
  const { mode, sealAtBoot = false } = options.encryption ?? {}

  async function findPlain(): Promise<readonly string[]> {
    const found = new Set(await store.findPlainHistory(keys))
    const isSensitive = new Set(keys)
    for (const { key, sealed } of sharedValues.rows()) if (!sealed && isSensitive.has(key)) found.add(key)
    return [...found].toSorted()
  }

  let plain = await findPlain()
  if (plain.length > 0 && sealAtBoot) await settings.rewrap()
  if (plain.length > 0 && (sealAtBoot || mode === 'require')) {
    // Another instance may have sealed what is plain in memory, which leaves no trace in the history.
    await settings.refresh()
    plain = await findPlain()
  }
  if (plain.length > 0 && mode === 'require') throw new FMOD_SETTINGS_NOT_SEALED(plain.join(', '))
  return plain
}

interface WarningInit extends BootState {
  readonly store: SettingsStore
  readonly events: Events | undefined
  /** Whether the settings routes can identify callers. */
  readonly knowsCaller: boolean
  /** Whether OpenAPI documents of the application have the routes of settings. */
  readonly isDescribed: boolean
  /** The keys that `checkSealed` returned. */
  readonly notSealed: readonly string[]
}

/** Logs what is legal and probably not meant. */
export function warnAtBoot(log: FastifyBaseLogger, init: WarningInit): void {
  const { registry, sharedValues, options, store, events, knowsCaller } = init
  for (const warning of registry.warnings()) log.warn(warning)
  if (!store.durable)
    log.warn({ store: store.name }, 'settings are not persisted: they are gone when the process ends')
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
  if (events?.transactional && events.transactional !== store.transactional) {
    log.warn(
      { store: store.name },
      'the event transport cannot join transactions of the settings store: events are published after the commit',
    )
  }
}

function warnOfReadableSecrets(
  log: FastifyBaseLogger,
  { registry, sealing, options, notSealed }: WarningInit,
): void {
  const unprotected = secretsWithoutKey(registry, sealing)
  if (unprotected.length > 0)
    log.warn(
      { keys: unprotected },
      'sensitive settings are stored in plain text: no encryption key is configured',
    )
  if (notSealed.length > 0) {
    log.warn(
      { keys: notSealed },
      'sensitive settings are stored in plain text, as values or in the history: call app.settings.rewrap() once',
    )
  }
  if (options.routes === false || (options.sensitiveResolved ?? 'spec') !== 'spec') return
  const exposed = sensitiveSettings(registry).filter(({ scope }) => scope !== SettingScope.System)
  if (exposed.length > 0) {
    log.warn(
      { keys: exposed.map(({ key }) => key) },
      'every signed-in caller can read these sensitive settings at /resolved; see the option sensitiveResolved',
    )
  }
}

/** The sensitive settings whose values are stored in plain text because there is no key to seal them. */
function secretsWithoutKey(registry: Registry, { activeKeyId }: Sealing): string[] {
  return activeKeyId === null ? sensitiveSettings(registry).map(({ key }) => key) : []
}

function sensitiveSettings(registry: Registry): CompleteDefinition[] {
  return registry.getDefinitions().filter(({ sensitive }) => sensitive)
}
