/** The checks before the application serves requests: mistakes stop the boot, doubts are logged. */
import { currentCommand, orFinding, report } from '@fastify-modular/core/internal'
import type { FastifyBaseLogger } from 'fastify'
import type { Registry } from './definitions/registry.ts'
import { errorCodes, toLines } from './misuse-errors.ts'
import type { SettingState } from './memory/shared-values.ts'
import type { SettingsOptions } from './options.ts'
import { checkOverrides } from './overrides.ts'
import type { Parts } from './parts.ts'
import { isPlaceOf } from './places.ts'
import { type CompleteDefinition, SettingScope } from './setting-definition.ts'
import type { Resources } from './resources/resources.ts'
import { brokenRules } from './write/cross-rules.ts'

/**
 * Checks definitions, overrides and keys together, once all modules have contributed. Under a command of the command line,
 * what is wrong with overrides, stored values and keys is a finding.
 * @throws {FMOD_SETTINGS_INVALID_DEFINITIONS} with all problems
 * @throws {FMOD_SETTINGS_INVALID_ENVIRONMENT} with all problems
 * @throws {FMOD_SETTINGS_INVALID_OVERRIDES} with all problems
 * @throws {FMOD_SETTINGS_MISSING_ENCRYPTION_KEYS} stored values are encrypted with unknown keys
 * @throws {FMOD_SETTINGS_ENCRYPTION_REQUIRED} there is no key
 */
export function checkAtBoot(parts: Parts, { encryption: { mode } = {} }: SettingsOptions): void {
  const { registry, encryption, locked } = parts
  registry.check()
  orFinding({ kind: 'unknown override', codes: ['FMOD_SETTINGS_INVALID_OVERRIDES'], keys: [] }, () =>
    checkOverrides(locked, registry),
  )
  const ofLocked = ['FMOD_SETTINGS_INVALID_ENVIRONMENT', 'FMOD_SETTINGS_INVALID_OVERRIDES']
  orFinding({ kind: 'broken rule', codes: ofLocked, keys: [] }, () => checkRules(parts))
  orFinding({ kind: 'unreadable secret', codes: ['FMOD_SETTINGS_MISSING_ENCRYPTION_KEYS'], keys: [] }, () =>
    checkKeys(parts),
  )
  if (mode !== 'require' || encryption.activeKeyId !== null) return
  const secrets = keysOf(sensitiveSettings(registry))
  orFinding({ kind: 'plain secret', codes: ['FMOD_SETTINGS_ENCRYPTION_REQUIRED'], keys: secrets }, () => {
    if (secrets.length > 0) throw new errorCodes.FMOD_SETTINGS_ENCRYPTION_REQUIRED(secrets.join(', '))
  })
}

/** @throws {FMOD_SETTINGS_MISSING_ENCRYPTION_KEYS} stored values are encrypted with unknown keys */
function checkKeys({ sharedValues, encryption }: Parts): void {
  const lost = [...sharedValues.rows()].filter(
    (row) => row.encrypted && !encryption.knows(encryption.keyIdOf(row.value)),
  )
  if (lost.length > 0) {
    throw new errorCodes.FMOD_SETTINGS_MISSING_ENCRYPTION_KEYS(
      lost.map((row) => `"${row.key}" with "${encryption.keyIdOf(row.value)}"`).join(', '),
    )
  }
}

/** What no write can mend stops the boot: locked values and defaults that do not go together. */
function checkRules(parts: Parts): void {
  const fixed = brokenRules(parts).filter(({ states }) => states.every(isFixed))
  const problemsOf = (isMeant: (locks: readonly SettingState['lockedBy'][]) => boolean): string[] =>
    fixed
      .filter(({ states }) => isMeant(states.map(({ lockedBy }) => lockedBy)))
      .map(
        ({ rule, states }) =>
          `${states.map(toOrigin).join(', ')} break a rule of the module "${rule.module}"`,
      )
  const ofDefaults = problemsOf((locks) => locks.every((by) => by === null))
  if (ofDefaults.length > 0) throw new errorCodes.FMOD_SETTINGS_INVALID_DEFINITIONS(toLines(ofDefaults))
  const ofVariables = problemsOf((locks) => locks.includes('variable'))
  if (ofVariables.length > 0) throw new errorCodes.FMOD_SETTINGS_INVALID_ENVIRONMENT(toLines(ofVariables))
  const ofOverrides = problemsOf(() => true)
  if (ofOverrides.length > 0) throw new errorCodes.FMOD_SETTINGS_INVALID_OVERRIDES(toLines(ofOverrides))
}

function toOrigin({ setting: { definition }, lockedBy }: SettingState): string {
  const origin = lockedBy === 'variable' ? definition.env : lockedBy === null ? 'default' : 'override'
  return `"${definition.key}" (${origin})`
}

function isFixed({ shared: { source } }: SettingState): boolean {
  return source === 'locked' || source === 'default'
}

/**
 * Checks that the permissions which definitions and actions of groups name exist, where the application has a gate that knows them.
 * @throws {FMOD_SETTINGS_INVALID_DEFINITIONS} nothing declares them, so that no role could offer them
 */
export function checkPermissions(
  registry: Registry,
  declared: { has(permission: string): boolean } | undefined,
): void {
  const named = [
    ...registry
      .getDefinitions()
      .map(({ key, writePermission }) => [`setting "${key}"`, writePermission] as const),
    ...Object.entries(registry.getGroups()).map(
      ([name, { action }]) => [`action of the group "${name}"`, action?.permission ?? null] as const,
    ),
  ]
  const problems = named
    .filter(([, permission]) => permission !== null && declared?.has(permission) === false)
    .map(([name, permission]) => `${name}: no module declares the permission "${permission}"`)
  if (problems.length > 0) throw new errorCodes.FMOD_SETTINGS_INVALID_DEFINITIONS(toLines(problems))
}

/**
 * Looks for sensitive settings with a stored text that is not encrypted: a value, or an earlier one in the history, which
 * has the newest text of every value. Returns their keys. None where no encryption key is configured: `checkAtBoot` reports that.
 * @throws {FMOD_SETTINGS_NOT_ENCRYPTED} there are some, and encryption is required
 */
export async function checkEncrypted(
  { registry, sharedValues, encryption, store, coherence }: Parts,
  options: SettingsOptions,
): Promise<readonly string[]> {
  const keys = keysOf(sensitiveSettings(registry))
  if (encryption.activeKeyId === null || keys.length === 0) return []

  async function findPlain(): Promise<readonly string[]> {
    const found = new Set(await store.plainKeys(keys))
    const isSensitive = new Set(keys)
    for (const { key, encrypted } of sharedValues.rows())
      if (!encrypted && isSensitive.has(key)) found.add(key)
    return [...found].toSorted()
  }

  const plain = await findPlain()
  if (plain.length > 0)
    report({
      kind: 'plain secret',
      text: `Stored in plain text, as values or in the history: ${plain.join(', ')}. Run "fastify-modular settings reencrypt".`,
      keys: [],
    })
  if (plain.length === 0 || options.encryption?.mode !== 'require') return plain
  // Another instance may have encrypted what is plain in memory, which leaves no trace in the history.
  await coherence.reload()
  const still = await findPlain()
  if (still.length > 0 && !currentCommand())
    throw new errorCodes.FMOD_SETTINGS_NOT_ENCRYPTED(still.join(', '))
  return still
}

/** Notes the changes that were not kept in time, for a command: a process that serves would have put them back. */
export async function reportOverdue({ store }: Parts): Promise<void> {
  const { at, windows } = await store.windows()
  for (const { revision, due } of windows.filter((window) => window.due <= at))
    report({
      kind: 'overdue window',
      text: `Revision ${revision} had to be kept until ${new Date(due).toISOString()}. No process has put it back since.`,
      keys: [],
    })
}

type ResourceParts = Parts & { readonly resources: Resources }

/** What else warnings depend on. */
interface BootReport {
  /** Whether the settings routes can identify callers. */
  readonly knowsCaller: boolean
  /** Whether OpenAPI documents of the application have the routes of settings. */
  readonly isDescribed: boolean
  /** The keys that `checkEncrypted` returned. */
  readonly notEncrypted: readonly string[]
}

/** Logs warnings about legal, but probably mistaken configuration. */
export function warnAtBoot(parts: ResourceParts, options: SettingsOptions, report: BootReport): void {
  const { registry, sharedValues, store, log } = parts
  const { name, durable, transactional } = store.info
  for (const warning of registry.warnings()) log.warn(warning)
  if (!durable) log.warn({ store: name }, 'settings are not persisted: they are gone when the process ends')
  if (!report.knowsCaller && options.routes !== false)
    log.warn(
      'the settings routes cannot identify callers: they answer 401. Register public-routes, or set the option findCaller',
    )
  if (!report.isDescribed)
    log.warn(
      'the OpenAPI document has no settings routes: register @fastify/swagger before settings, and await it',
    )
  warnOfReadableSecrets(parts, options, report)
  warnOfMixedRights(parts)
  for (const { rule } of brokenRules(parts))
    warnOf(
      log,
      rule.keys,
      'stored values break a rule about these settings: changes that leave it broken are refused',
    )
  const orphans = [...sharedValues.rows()].filter(({ key, scope }) => !isPlaceOf(registry.find(key), scope))
  warnOf(
    log,
    [...new Set(orphans.map(({ key }) => key))],
    'values are stored for settings that no module defines, or in another scope than theirs; they are kept and not shown',
  )
  const bus = parts.events()
  if (bus?.transactional && bus.transactional !== transactional)
    log.warn(
      { store: name },
      'the event transport cannot join transactions of the settings store: events are published after the commit',
    )
}

function warnOfReadableSecrets(
  { registry, encryption, log }: Parts,
  { routes, resolvedSecrets = 'signed-in' }: SettingsOptions,
  { notEncrypted }: BootReport,
): void {
  const secrets = sensitiveSettings(registry)
  if (encryption.activeKeyId === null)
    warnOf(
      log,
      keysOf(secrets),
      'sensitive settings are stored in plain text: no encryption key is configured',
    )
  warnOf(
    log,
    notEncrypted,
    'sensitive settings are stored in plain text, as values or in the history: call app.settings.reencrypt() once',
  )
  if (routes === false || resolvedSecrets !== 'signed-in') return
  warnOf(
    log,
    keysOf(secrets.filter(({ scope }) => scope !== SettingScope.System)),
    'every signed-in caller can read these sensitive settings at /resolved; see the option resolvedSecrets',
  )
}

/** A caller who may write the host gets the password that the resource sends there. */
function warnOfMixedRights({ resources, log }: ResourceParts): void {
  for (const resource of resources.all()) {
    const definitions = resources.statesOf(resource).map(({ setting }) => setting.definition)
    const rights = new Set(definitions.map(({ scope, writePermission }) => `${scope} ${writePermission}`))
    if (rights.size > 1 && definitions.some(({ sensitive }) => sensitive))
      warnOf(
        log,
        keysOf(definitions),
        `a caller who may write one of the settings of the resource "${resource.name}" may have its secret: give all of them the same scope and writePermission`,
      )
  }
}

function warnOf(log: FastifyBaseLogger, keys: readonly string[], message: string): void {
  if (keys.length > 0) log.warn({ keys }, message)
}

function sensitiveSettings(registry: Registry): CompleteDefinition[] {
  return registry.getDefinitions().filter(({ sensitive }) => sensitive)
}

function keysOf(definitions: readonly CompleteDefinition[]): string[] {
  return definitions.map(({ key }) => key)
}
