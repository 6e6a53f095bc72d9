/** Puts the parts of the service together: what is written reaches memory, listeners and events, in this order. */
import type { Events } from '@fastify-modular/core'
import type { FastifyBaseLogger } from 'fastify'
import { SettingsBuilder } from './definitions/builder.ts'
import type { Registry } from './definitions/registry.ts'
import { type JsonValue, SettingScope } from './setting-definition.ts'
import type { SettingsStore, StoredRow, WriteResult } from './store/store.ts'
import { createChangePublisher } from './events/change-events.ts'
import { type ContractParts, createContract } from './contract.ts'
import { createHistory, type History } from './history/history.ts'
import { type OrphanedSetting, rememberInternals, type Settings } from './settings.ts'
import { anyKey, createListeners } from './events/listeners.ts'
import { createObserver } from './diagnostics.ts'
import { type Coherence, createCoherence } from './memory/coherence.ts'
import { inspectState } from './reading/inspect.ts'
import { createUserReader, createSharedGet } from './reading/reader.ts'
import { keyOf, type SettingReference } from './definitions/tokens.ts'
import { type SettingState, createSharedValues } from './memory/shared-values.ts'
import { createUserCache } from './memory/user-values.ts'
import { createRowCodec } from './secrets/row-codec.ts'
import { createTransfer, type Transfer } from './history/transfer.ts'
import { crossRulesOf } from './write/cross-rules.ts'
import { requireUser } from './write/entries.ts'
import type { Locked } from './overrides.ts'
import { createWrite, observeWrite } from './write/write.ts'
import { isSecret } from './values/registered-setting.ts'
import { rewrap } from './secrets/rewrap.ts'
import type { Sealing } from './secrets/sealing.ts'

/** What the service needs from its host. */
export interface ServiceInit {
  readonly registry: Registry
  readonly store: SettingsStore
  readonly sealing: Sealing
  /** Whether a sensitive value that is not sealed is unreadable. Looked at each time. */
  readonly refusesPlain: () => boolean
  readonly locked: Locked
  /** Entries of history that stay of each value; all without it. */
  readonly keepHistory?: number | undefined
  /** How many users' values stay in memory. */
  readonly userCapacity: number
  /** Looked up at each use. */
  readonly events: () => Events | undefined
  readonly log: FastifyBaseLogger
}

/** The service as the plugin and the HTTP routes see it. */
export interface SettingsService extends ContractParts {
  readonly settings: Settings
  readonly coherence: Coherence
  readonly transfer: Transfer
  readonly history: History
}

export function createSettingsService(init: ServiceInit): SettingsService {
  const { registry, store, sealing, refusesPlain, locked, keepHistory, userCapacity, events, log } = init
  const observer = createObserver()
  const codec = createRowCodec(sealing, refusesPlain, observer, log)
  const sharedValues = createSharedValues(registry, codec, locked.values)
  const users = createUserCache(store, sharedValues, codec, userCapacity)
  const listeners = createListeners(log)
  const publisher = createChangePublisher(registry, store.transactional, events, log)
  const coherence = createCoherence(
    store,
    sharedValues,
    users,
    (changes, revision) => listeners.notify(changes, revision, 'remote'),
    observer,
    log,
  )

  /** A committed write reaches memory first, so that whoever hears of it reads it. */
  async function committed(written: WriteResult, actor: string | null): Promise<void> {
    const rows = written.changes.map(({ scope, key, after }) => ({ scope, key, row: after }))
    const changes = sharedValues.apply(written.revision, rows)
    users.apply(written.revision, written.changes)
    coherence.closeGap()
    observer.wrote(written, actor)
    listeners.notify(changes, written.revision, 'local')
    await publisher.publish(written, actor)
  }

  function isSensitive(key: string): boolean {
    return registry.find(key)?.definition.sensitive === true
  }

  /** What was unreadable may be readable now; nothing else changes. */
  function resealed(rows: readonly StoredRow[]): void {
    listeners.notify(sharedValues.reseal(rows), sharedValues.revision, 'local')
    users.forget(new Set(rows.flatMap(({ scope, userId }) => (scope === SettingScope.User ? userId : []))))
  }

  const commit: Coherence['write'] =
    keepHistory === undefined ? coherence.write : (request) => coherence.write({ ...request, keepHistory })
  const write = observeWrite(
    createWrite({ ...coherence, write: commit }, codec, publisher.enqueueAs, committed, (entries) =>
      crossRulesOf(entries, registry, sharedValues.find, codec),
    ),
    observer,
  )
  const states = sortedStates(registry, (key) => sharedValues.find(key))
  const parts: ContractParts = { store, sharedValues, users, codec, write, states }
  const history = createHistory(store, sharedValues, codec, write)
  const transfer = createTransfer(sharedValues, states, coherence.catchUp, write)

  const settings: Omit<Settings, 'get' | 'on'> & {
    get(reference: SettingReference): unknown
    on: typeof listeners.on
  } = {
    ...createContract(parts),
    get: createSharedGet(sharedValues),
    on(reference, listener) {
      // A setting that nobody has read has no value to compare with.
      if (keyOf(reference) === anyKey) states()
      else sharedValues.require(keyOf(reference))
      return listeners.on(reference, listener)
    },
    definitions: registry,
    get status() {
      return coherence.status
    },
    get stats() {
      return observer.stats
    },
    define(...definitions) {
      new SettingsBuilder(registry, 'app').addAll(...definitions)
      return settings as Settings
    },
    async forUser(userId) {
      return createUserReader(
        sharedValues,
        userId,
        userId === null ? [] : await users.load(requireUser(userId)),
      )
    },
    async inspect(key, userId) {
      const state = sharedValues.find(key)
      if (!state) return null
      const id =
        userId === undefined ? undefined : { scope: SettingScope.User, userId: requireUser(userId), key }
      return inspectState(state, locked.originOf(key), id && (await store.readRow(id)), codec)
    },
    history: history.list,
    async rollback(target, options) {
      await history.rollback(target, options)
    },
    exportSettings: () => transfer.exportSettings(),
    importSettings: transfer.importSettings,
    publicValues: () => publicValues(states()),
    orphans: () => findOrphans(store, registry),
    rewrap: () => rewrap({ store, sealing, isSensitive, resealed }),
    refresh: coherence.reload,
  }
  rememberInternals(settings as Settings, {
    registry,
    sharedValues,
    notify: (changes) => listeners.notify(changes, sharedValues.revision, 'local'),
  })
  return { ...parts, settings: settings as Settings, coherence, transfer, history }
}

/** Definitions are frozen once the application is ready; until then the order is made anew. */
function sortedStates(
  registry: Registry,
  find: (key: string) => SettingState | undefined,
): () => readonly SettingState[] {
  let keys: readonly string[] = []
  return () => {
    const all = registry.all()
    if (keys.length !== all.length) {
      keys = all
        .map(({ definition }) => definition)
        .toSorted(byGroupOrderKey)
        .map(({ key }) => key)
    }
    return keys.flatMap((key) => find(key) ?? [])
  }
}

type Sortable = { readonly group: string | null; readonly order: number; readonly key: string }

function byGroupOrderKey(a: Sortable, b: Sortable): number {
  return compare(a.group ?? '', b.group ?? '') || a.order - b.order || compare(a.key, b.key)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function publicValues(states: readonly SettingState[]): Readonly<Record<string, JsonValue>> {
  const shown = states.filter(
    ({ setting, shared }) => setting.definition.public && !isSecret(setting, shared.row),
  )
  return Object.fromEntries(
    shown.map(({ setting, shared }) => [setting.definition.key, shared.error ? null : shared.value]),
  )
}

async function findOrphans(store: SettingsStore, registry: Registry): Promise<readonly OrphanedSetting[]> {
  const orphans = new Map<string, { key: string; scope: SettingScope; rows: number }>()
  let page = await store.scan(null, 1000)
  for (let last = page.at(-1); last; page = await store.scan(last, 1000), last = page.at(-1)) {
    for (const { key, scope } of page) {
      if (registry.find(key)) continue
      const orphan = orphans.get(`${scope} ${key}`) ?? { key, scope, rows: 0 }
      orphan.rows++
      orphans.set(`${scope} ${key}`, orphan)
    }
  }
  return [...orphans.values()]
}
