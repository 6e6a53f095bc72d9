/** Wires the parts of `app.settings` together. */
import { createContract } from './contract.ts'
import { SettingsBuilder } from './definitions/builder.ts'
import type { SettingMap, SettingReference } from './definitions/tokens.ts'
import { Observer } from './diagnostics.ts'
import { Listeners, type SettingListener } from './events.ts'
import { copySetting } from './history/copy.ts'
import { eraseTenant, eraseUser } from './history/erase.ts'
import { forgetSetting } from './history/forget.ts'
import { readHistory } from './history/history.ts'
import { restore, revert } from './history/revert.ts'
import { exportSettings, importSettings } from './history/transfer.ts'
import { Changes } from './memory/changes.ts'
import { Coherence } from './memory/coherence.ts'
import { SharedValues } from './memory/shared-values.ts'
import { OwnedCache } from './memory/owned-values.ts'
import type { Locked } from './overrides.ts'
import type { Parts } from './parts.ts'
import { findOrphans, inspect } from './reading/inspect.ts'
import { createStates, publicValues, publicValuesFor, readValue } from './reading/list.ts'
import { createSharedGet, readUser, type Whose } from './reading/reader.ts'
import { Probes } from './resources/probe.ts'
import type { Snapshot, Resource, ResourceOptions } from './resources/resource.ts'
import { Resources } from './resources/resources.ts'
import { reencrypt } from './history/reencrypt.ts'
import { RowCodec } from './secrets/row-codec.ts'
import { partsOfSettings, type Settings } from './settings.ts'
import { type JsonValue, type SettingDefinition, SettingScope } from './setting-definition.ts'
import type { Retention } from './store/retention.ts'
import { toDataElement } from './streams/public-data.ts'
import { Streams } from './streams/streams.ts'
import type { FindCaller } from './options.ts'
import { placeOf, set, setMany, type SetOptions } from './write/set.ts'
import { Windows } from './windows/windows.ts'
import { createWrite, reset } from './write/write.ts'

/** What the plugin passes to the service. */
export interface ServiceInit extends Pick<
  Parts,
  'registry' | 'store' | 'encryption' | 'selfService' | 'findMembership' | 'events' | 'log'
> {
  /** Whether a sensitive value that is not encrypted is unreadable. Looked at each time. */
  readonly refusesPlain: () => boolean
  readonly locked: Locked
  /** Without it all history stays. */
  readonly retention?: Retention | undefined
  /** How many users' values stay in memory, and how many tenants'. */
  readonly userCapacity: number
  readonly tenantCapacity: number
  readonly findCaller: FindCaller
}

/** All parts, as the plugin and the HTTP routes see them. */
export interface SettingsService extends ServiceParts {
  readonly settings: Settings
}

/** The parts, and those that no operation uses. */
interface ServiceParts extends Parts, Pick<ServiceInit, 'findCaller' | 'retention'> {
  readonly listeners: Listeners
  readonly streams: Streams
  readonly resources: Resources
  readonly probes: Probes
  readonly windows: Windows
}

export function createSettingsService(init: ServiceInit): SettingsService {
  const parts = createParts(init)
  return { ...parts, settings: createSettings(parts) }
}

function createParts(init: ServiceInit): ServiceParts {
  const { registry, store, encryption, refusesPlain, retention, userCapacity, tenantCapacity, log } = init
  const observer = new Observer()
  const codec = new RowCodec({ encryption, refusesPlain, observer, log })
  const locked = new Map(init.locked)
  const sharedValues = new SharedValues({ registry, codec, locked })
  const cache = { store, sharedValues, codec }
  const users = new OwnedCache({ ...cache, scope: SettingScope.User, capacity: userCapacity })
  const tenants = new OwnedCache({ ...cache, scope: SettingScope.Tenant, capacity: tenantCapacity })
  const states = createStates(registry, sharedValues)
  const listeners = new Listeners({ sharedValues, states, log })
  const changes = new Changes()
  changes.follow({
    owned(changed) {
      users.forget(changed)
      tenants.forget(changed)
    },
    shared: (change) => listeners.notify(change),
    wrote(write) {
      observer.wrote(write)
      retention?.wrote(write)
    },
  })
  const resources = new Resources({ registry, sharedValues, changes, log })
  const coherence = new Coherence({ store, sharedValues, changes, observer, log })
  const writes = { ...init, codec, sharedValues, users, tenants, changes, coherence, observer }
  const parts = { ...writes, write: createWrite(writes), listeners, resources, states, locked }
  return {
    ...parts,
    streams: new Streams(parts),
    probes: new Probes(parts, resources),
    windows: new Windows(parts),
  }
}

/** Makes `app.settings`. */
function createSettings(parts: ServiceParts): Settings {
  const { registry, sharedValues, coherence, listeners, resources, observer, states, streams, windows } =
    parts
  const contract = createContract(parts)
  const untyped: UntypedSettings = {
    contract,
    definitions: registry,
    get: createSharedGet(sharedValues),
    forUser: (userId, { tenant = null } = {}) => readUser(parts, { userId, tenant }),
    forTenant: (tenant) => readUser(parts, { userId: null, tenant }),
    tenantOf: async (request) => {
      const found = await parts.findMembership?.(request, await parts.findCaller(request))
      return found ? { id: found.id, name: found.name, mayWrite: found.mayWrite } : null
    },
    record: async (key, place = {}) => {
      const state = sharedValues.find(key)
      return state ? readValue(parts, state, placeOf(state, place), place.tenant) : null
    },
    list: contract.getSettingValues,
    set: (reference, value, options) => set(parts, reference, { value }, options),
    reset: (reference, options) => set(parts, reference, reset, options),
    setMany: (updates, { tenant, ...options } = {}) => setMany(parts, updates, options, tenant),
    on: (reference, listener) => listeners.on(reference, listener),
    resource: (name, tokens, options) => resources.add(name, tokens, options),
    inspect: (key, userId, tenant) => inspect(parts, key, { userId, tenant }),
    history: (filter) => readHistory(parts, filter),
    restore: async (reference, revision, options) =>
      void (await restore(parts, reference, revision, options)),
    revert: (revision, options) => revert(parts, revision, options),
    keep: async (revision, options = {}) => void (await windows.keep(revision, options)),
    export: (options) => exportSettings(parts, options),
    import: async (file, options) => (await importSettings(parts, file, options)).report,
    publicValues: (of) => (of ? publicValuesFor(parts, of) : publicValues(states())),
    publicDataElement: (request) =>
      toDataElement(request, (whose) => publicValuesFor(parts, whose), registry.hasTenants),
    orphans: () => findOrphans(parts),
    eraseUser: (userId) => eraseUser(parts, userId),
    eraseTenant: (id) => eraseTenant(parts, id),
    copy: (from, to, options) => copySetting(parts, from, to, options),
    forget: (key) => forgetSetting(parts, key),
    reencrypt: () => reencrypt(parts),
    endStreams: (callerId) => streams.endStreams(callerId),
    refresh: () => coherence.reload(),
    define(...definitions) {
      new SettingsBuilder(registry, 'app').addAll(...definitions)
      return settings
    },
    get status() {
      return coherence.status
    },
    get stats() {
      return observer.stats
    },
  }
  Object.defineProperty(untyped, partsOfSettings, { value: parts })
  const settings = untyped as Settings // a token's phantom type says what its definition made sure of
  return settings
}

type UntypedSettings = Omit<
  Settings,
  'get' | 'on' | 'define' | 'set' | 'reset' | 'restore' | 'resource' | 'publicValues'
> & {
  publicValues(of?: Whose): unknown
  get(reference: SettingReference): unknown
  on(reference: SettingReference, listener: SettingListener): () => void
  set(reference: SettingReference, value: JsonValue, options?: SetOptions): Promise<void>
  reset(reference: SettingReference, options?: SetOptions): Promise<void>
  restore(reference: SettingReference, revision: number, options?: SetOptions): Promise<void>
  define(...definitions: readonly (SettingDefinition | SettingMap)[]): Settings
  resource(
    name: string,
    tokens: SettingMap,
    options: ResourceOptions<Snapshot['values'], unknown>,
  ): Resource<unknown>
}
