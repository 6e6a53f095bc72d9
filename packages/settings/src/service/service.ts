/** Puts the parts of the service together: what is written reaches memory, listeners and events, in this order. */
import type { Events } from '@fastify-modular/core'
import type { FastifyBaseLogger } from 'fastify'
import { SettingsBuilder } from '../definitions/builder.ts'
import type { Registry } from '../definitions/registry.ts'
import { type JsonValue, SettingScope } from '../setting-definition.ts'
import type { SettingsStore, StoredRow, WriteResult } from '../store/store.ts'
import { createChangePublisher } from './events/change-events.ts'
import { type ContractParts, createContract } from './contract-operations.ts'
import { createHistory, type History } from './history.ts'
import { rememberInternals } from './internals.ts'
import { anyKey, createListeners } from './events/listeners.ts'
import { createObserver } from './events/observer.ts'
import { type Coherence, createCoherence } from './read/coherence.ts'
import { inspectCell } from './read/inspect.ts'
import { createUserReader, createSharedGet, keyOf, type SettingReference } from './read/reader.ts'
import { type Cell, createSnapshot } from './read/snapshot.ts'
import { createUserCache } from './read/user-cache.ts'
import { createRowCodec } from './row-codec.ts'
import type { OrphanedSetting, Settings } from './settings.ts'
import { createTransfer, type Transfer } from './transfer.ts'
import { crossRulesOf } from './write/cross-rules.ts'
import { requireUser } from './write/entries.ts'
import type { Locked } from './write/locked.ts'
import { observeWrite } from './write/observe-write.ts'
import { rewrap } from './write/rewrap.ts'
import type { Sealing } from './write/sealing.ts'
import { createWrite } from './write/write.ts'

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
  const snapshot = createSnapshot(registry, codec, locked.values)
  const users = createUserCache(store, snapshot, codec, userCapacity)
  const listeners = createListeners(log)
  const publisher = createChangePublisher(registry, store.transactional, events, log)
  const coherence = createCoherence(
    store,
    snapshot,
    users,
    (changes, revision) => listeners.notify(changes, revision, 'remote'),
    observer,
    log,
  )

  /** A committed write reaches memory first, so that whoever hears of it reads it. */
  async function committed(written: WriteResult, actor: string | null): Promise<void> {
    const rows = written.changes.map(({ scope, key, after }) => ({ scope, key, row: after }))
    const changes = snapshot.apply(written.revision, rows)
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
    listeners.notify(snapshot.reseal(rows), snapshot.revision, 'local')
    users.forget(new Set(rows.flatMap(({ scope, userId }) => (scope === SettingScope.User ? userId : []))))
  }

  const commit: Coherence['write'] =
    keepHistory === undefined ? coherence.write : (request) => coherence.write({ ...request, keepHistory })
  const write = observeWrite(
    createWrite({ ...coherence, write: commit }, codec, publisher.enqueueAs, committed, (entries) =>
      crossRulesOf(entries, registry, snapshot.find, codec),
    ),
    observer,
  )
  const cells = sortedCells(registry, (key) => snapshot.find(key))
  const parts: ContractParts = { store, snapshot, users, codec, write, cells }
  const history = createHistory(store, snapshot, codec, write)
  const transfer = createTransfer(snapshot, cells, write)

  const settings: Omit<Settings, 'get' | 'on'> & {
    get(reference: SettingReference): unknown
    on: typeof listeners.on
  } = {
    ...createContract(parts),
    get: createSharedGet(snapshot),
    on(reference, listener) {
      // A setting that nobody has read has no value to compare with.
      if (keyOf(reference) === anyKey) cells()
      else snapshot.require(keyOf(reference))
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
      return createUserReader(snapshot, userId, userId === null ? [] : await users.load(requireUser(userId)))
    },
    async inspect(key, userId) {
      const cell = snapshot.find(key)
      if (!cell) return null
      const id =
        userId === undefined ? undefined : { scope: SettingScope.User, userId: requireUser(userId), key }
      return inspectCell(cell, locked.originOf(key), id && (await store.readRow(id)), codec)
    },
    history: history.list,
    async rollback(target, options) {
      await history.rollback(target, options)
    },
    exportSettings: () => transfer.exportSettings(),
    importSettings: transfer.importSettings,
    publicValues: () => publicValues(cells()),
    orphans: () => findOrphans(store, registry),
    rewrap: () => rewrap({ store, sealing, isSensitive, resealed }),
    refresh: coherence.reload,
  }
  rememberInternals(settings as Settings, {
    registry,
    snapshot,
    notify: (changes) => listeners.notify(changes, snapshot.revision, 'local'),
  })
  return { ...parts, settings: settings as Settings, coherence, transfer, history }
}

/** Definitions are frozen once the application is ready; until then the order is made anew. */
function sortedCells(registry: Registry, find: (key: string) => Cell | undefined): () => readonly Cell[] {
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

function publicValues(cells: readonly Cell[]): Readonly<Record<string, JsonValue>> {
  const shown = cells.filter(({ setting }) => setting.definition.public && !setting.definition.sensitive)
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
