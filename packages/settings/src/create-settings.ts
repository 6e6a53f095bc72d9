/** Wires the parts of `app.settings` together. */
import type { Events } from '@fastify-modular/core'
import type { FastifyBaseLogger } from 'fastify'
import { type ContractParts, createContract } from './contract.ts'
import { SettingsBuilder, type TokenMap } from './definitions/builder.ts'
import type { Registry } from './definitions/registry.ts'
import type { SettingReference } from './definitions/tokens.ts'
import { createObserver } from './diagnostics.ts'
import { createChangePublisher, createListeners, type Listeners } from './events.ts'
import { createErase } from './history/erase.ts'
import { createHistory, type ReadHistory } from './history/history.ts'
import { Reverts } from './history/revert.ts'
import { createTransfer, type Transfer } from './history/transfer.ts'
import { Coherence } from './memory/coherence.ts'
import { SharedValues } from './memory/shared-values.ts'
import { requireUser, UserCache } from './memory/user-values.ts'
import type { Locked } from './overrides.ts'
import { createInspect, findOrphans } from './reading/inspect.ts'
import { createStates, publicValues } from './reading/list.ts'
import { createSharedGet, createUserReader } from './reading/reader.ts'
import { reencrypt } from './secrets/reencrypt.ts'
import { createRowCodec } from './secrets/row-codec.ts'
import type { Encryption } from './secrets/encryption.ts'
import { partsOfSettings, type Settings, type SettingsParts } from './settings.ts'
import { type JsonValue, type SettingDefinition, SettingScope } from './setting-definition.ts'
import type { Retention } from './store/retention.ts'
import type { SettingsStore, StoredRow } from './store/store.ts'
import { Streams } from './streams/streams.ts'
import { createSet, placeOf, type SetOptions } from './write/set.ts'
import { createWrite } from './write/write.ts'

/** What the service needs from its host. */
export interface ServiceInit {
  readonly registry: Registry
  readonly store: SettingsStore
  readonly encryption: Encryption
  /** Whether a sensitive value that is not encrypted is unreadable. Looked at each time. */
  readonly refusesPlain: () => boolean
  readonly locked: Locked
  /** Without it all history stays. */
  readonly retention?: Retention | undefined
  /** How many users' values stay in memory. */
  readonly userCapacity: number
  /** Called at each use. */
  readonly events: () => Events | undefined
  readonly log: FastifyBaseLogger
}

/** The service as the plugin and the HTTP routes see it. */
export interface SettingsService extends ContractParts {
  readonly settings: Settings
  readonly coherence: Coherence
  readonly transfer: Transfer
  readonly history: ReadHistory
  readonly reverts: Reverts
  readonly streams: Streams
}

export function createSettingsService(init: ServiceInit): SettingsService {
  const { registry, store, encryption, refusesPlain, userCapacity, events, retention, log } = init
  const observer = createObserver()
  const codec = createRowCodec({ encryption, refusesPlain, observer, log })
  const locked = new Map(init.locked)
  const sharedValues = new SharedValues({ registry, codec, locked })
  const users = new UserCache({ store, sharedValues, codec, capacity: userCapacity })
  const states = createStates(registry, sharedValues)
  const listeners = createListeners({ sharedValues, states, log })
  const publisher = createChangePublisher({ registry, transactional: store.info.transactional, events, log })
  const coherence = new Coherence({ store, sharedValues, users, listeners, observer, log })
  const write = createWrite({
    store,
    registry,
    codec,
    sharedValues,
    users,
    coherence,
    listeners,
    publisher,
    observer,
    retention,
  })
  const parts: ContractParts = { store, sharedValues, users, codec, write, states }
  const history = createHistory(parts)
  const reverts = new Reverts(parts)
  const transfer = createTransfer({ ...parts, coherence })
  const streams = new Streams({ sharedValues, users, coherence, store, states, log })

  function isSensitive(key: string): boolean {
    return registry.find(key)?.definition.sensitive === true
  }

  /** What was unreadable may be readable now; nothing else changes. */
  function applyReencrypted(rows: readonly StoredRow[]): void {
    listeners.notify(sharedValues.reencrypt(rows), sharedValues.revision, 'local')
    users.forget(rows.filter(({ scope }) => scope === SettingScope.User).map(({ userId }) => userId))
  }

  const contract = createContract(parts)
  const untyped: UntypedSettings = {
    contract,
    ...createSet(parts),
    async record(key, place = {}) {
      const state = sharedValues.find(key)
      if (!state) return null
      const { scope, userId } = placeOf(state, place)
      return contract.getSettingValue(key, scope, userId)
    },
    list: contract.getSettingValues,
    get: createSharedGet(sharedValues),
    on: listeners.on,
    definitions: registry,
    get status() {
      return coherence.status
    },
    get stats() {
      return observer.stats
    },
    define(...definitions) {
      new SettingsBuilder(registry, 'app').addAll(...definitions)
      return settings
    },
    forUser: async (userId) =>
      createUserReader(
        sharedValues,
        userId,
        userId === null ? new Map() : await users.load(requireUser(userId)),
      ),
    inspect: createInspect({ store, sharedValues, codec }),
    history,
    restore: async (target, options) => void (await reverts.restore(target, options)),
    revert: (revision, options) => reverts.revert(revision, options),
    exportSettings: transfer.exportSettings,
    importSettings: transfer.importSettings,
    publicValues: () => publicValues(states()),
    orphans: () => findOrphans(store, registry),
    eraseUser: createErase({ store, users, coherence, events, log }),
    reencrypt: async () => {
      const report = await reencrypt({ store, encryption, isSensitive, applyReencrypted })
      log.info(
        { audit: 'settings.reencrypt', ...report },
        'sensitive settings were encrypted with the newest key',
      )
      return report
    },
    disconnect: (callerId) => streams.disconnect(callerId),
    refresh: () => coherence.reload(),
  }
  const hidden: SettingsParts = { registry, locked, sharedValues, listeners }
  Object.defineProperty(untyped, partsOfSettings, { value: hidden })
  const settings = untyped as Settings // a token's phantom type says what its definition made sure of
  return { ...parts, settings, coherence, transfer, history, reverts, streams }
}

type UntypedSettings = Omit<Settings, 'get' | 'on' | 'define' | 'set' | 'reset'> & {
  get(reference: SettingReference): unknown
  on: Listeners['on']
  set(reference: SettingReference, value: JsonValue, options?: SetOptions): Promise<void>
  reset(reference: SettingReference, options?: SetOptions): Promise<void>
  define(...definitions: readonly (SettingDefinition | TokenMap)[]): Settings
}
