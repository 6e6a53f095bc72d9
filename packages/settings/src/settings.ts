/** What `app.settings` is. */
import type { SettingsContract } from './contract.ts'
import type { FastifyRequest } from 'fastify'
import type { SettingValueDto } from './reading/dto.ts'
import type { SettingsFilter } from './reading/list.ts'
import type { SetManyOptions, SetOptions, ValuePlace } from './write/set.ts'
import type { BulkSettingUpdate } from './write/bulk.ts'
import type { SettingDefinitions } from './definitions/registry.ts'
import type {
  DynamicKey,
  NamedValues,
  SettingKeyMap,
  SettingMap,
  SettingToken,
} from './definitions/tokens.ts'
import type { SettingsStats } from './diagnostics.ts'
import type { SettingListener } from './events.ts'
import type { CopyOptions, CopyReport } from './history/copy.ts'
import type { ErasureReport } from './history/erase.ts'
import type { ForgetReport } from './history/forget.ts'
import type { HistoryFilter, HistoryPage } from './history/history.ts'
import type { RevertOptions, RevertReport } from './history/revert.ts'
import type { ExportOptions, ImportOptions, ImportReport, SettingsExport } from './history/transfer.ts'
import type { SettingsStatus } from './memory/coherence.ts'
import type { Parts } from './parts.ts'
import type { SettingInspection } from './reading/inspect.ts'
import type { KeyCount } from './store/store.ts'
import type { TenantOfRequest } from './tenants.ts'
import type { UserReader } from './reading/reader.ts'
import type { KeepOptions } from './windows/windows.ts'
import type { Resource, ResourceOptions } from './resources/resource.ts'
import type { ReencryptReport } from './history/reencrypt.ts'
import type { JsonValue, SettingDefinition, SettingScope } from './setting-definition.ts'

/** `app.settings`. Synchronous `get` reads System and Application values and the application's defaults of User ones. */
export interface Settings {
  /**
   * The effective value: locked, then the application's or the system's, then the default; null if there is none. A token of
   * Tenant scope is not taken: `forTenant(id)` reads what holds in a tenant, `forTenant(null)` what holds without one.
   * @throws {FMOD_SETTINGS_UNKNOWN_KEY} no module defines the key
   * @throws {FMOD_SETTINGS_UNREADABLE} the value is encrypted with a key that is not configured
   */
  get<T, S extends SettingScope>(
    token: SettingToken<T, string, S> & ([S] extends [typeof SettingScope.Tenant] ? never : unknown),
  ): T
  get<K extends keyof SettingKeyMap & string>(key: K): SettingKeyMap[K]
  get<K extends string>(key: DynamicKey<K>): JsonValue
  /** The ten operations of the specification, for code that is written against them. */
  readonly contract: SettingsContract
  readonly definitions: SettingDefinitions
  /** Whether memory is known to agree with the database. */
  readonly status: SettingsStatus
  /** What has happened since the start, for metrics; also on the diagnostics channel `fastify-modular:settings`. */
  readonly stats: SettingsStats
  /**
   * Adds definitions, alone or in maps, of a plugin that is not a module, while the application boots.
   * @throws {FMOD_CORE_ADDED_LATE} the application is ready
   */
  define(...definitions: readonly (SettingDefinition | SettingMap)[]): this
  /** A reader of one user's values, in a tenant where one is named; null gives the shared ones. The user is loaded on first need and kept a while. */
  forUser(userId: string | null, within?: { readonly tenant?: string }): Promise<UserReader>
  /** A reader of what holds in a tenant for whoever has no value of their own; null gives the shared values. */
  forTenant(tenant: string | null): Promise<UserReader>
  /**
   * Returns the tenant of a request as the option `tenants` finds it for its caller, asked once; null where there is none.
   * @throws what the option throws
   */
  tenantOf(request: FastifyRequest): Promise<TenantOfRequest | null>
  /**
   * Calls the listener when the value of `get` has changed, here or in another process; `'*'` for every setting.
   * Returns the function that removes it. For users' own values subscribe to the event `SettingChanged`.
   * @throws {FMOD_SETTINGS_UNKNOWN_KEY} no module defines the key
   */
  on<T>(token: SettingToken<T>, listener: SettingListener<T>): () => void
  on<K extends keyof SettingKeyMap & string>(key: K, listener: SettingListener<SettingKeyMap[K]>): () => void
  on<K extends string>(key: '*' | DynamicKey<K>, listener: SettingListener): () => void
  /**
   * Adds a resource that follows System and Application settings, such as a client of a mail server: made of their values before
   * the application is ready, and made again whenever a write changes one of them. The new one serves before the old one is
   * disposed of; where it cannot be made, the old one serves on.
   * @throws {FMOD_SETTINGS_INVALID_RESOURCE} the application is ready, or the name is taken
   */
  resource<M extends SettingMap, R>(
    name: string,
    tokens: M,
    options: ResourceOptions<NamedValues<M>, R>,
  ): Resource<R>
  /** One value as responses show it, with its source and version; sensitive ones masked. Null for an unknown key. */
  record(key: string, place?: ValuePlace): Promise<SettingValueDto | null>
  /** Values as responses show them: System and Application ones, or with `scope: 2` those that a user has stored. */
  list(filter?: SettingsFilter): Promise<readonly SettingValueDto[]>
  /**
   * Writes one value; null clears it where the setting is not required.
   * @throws {NotFoundException} no module defines the key
   * @throws {SettingValidationException} the value breaks the definition
   * @throws {ConflictException} the host locked the setting
   * @throws {PreconditionFailedException} the row is not at `version` any more
   */
  set<T>(token: SettingToken<T>, value: T | null, options?: SetOptions): Promise<void>
  set(key: string, value: JsonValue, options?: SetOptions): Promise<void>
  /** Removes the stored value; removing nothing is fine. */
  reset(reference: SettingToken<unknown> | string, options?: SetOptions): Promise<void>
  /** Writes System and Application values, or with `tenant` those of a tenant, all or nothing. @throws {SettingValidationException} with all errors by key */
  setMany(updates: readonly BulkSettingUpdate[], options?: SetManyOptions): Promise<void>
  /** Returns the layers of a value and the one that supplies it, or null for an unknown key. Sensitive values are masked. */
  inspect(key: string, userId?: string, tenant?: string): Promise<SettingInspection | null>
  /**
   * Returns what happened to values, page by page, newest first; sensitive values are masked. Without `visibleTo` that is
   * everything: name the caller before you show it to one.
   */
  history(filter?: HistoryFilter): Promise<HistoryPage>
  /**
   * Writes the value that a revision had written once more.
   * @throws {NotFoundException} unknown setting, or the revision did not change it
   * @throws {PreconditionFailedException} the row is not at `version` any more
   */
  restore(reference: SettingToken<unknown> | string, revision: number, options?: SetOptions): Promise<void>
  /**
   * Puts back every value that a change set of System and Application settings replaced, all or nothing, as a new revision.
   * @throws {NotFoundException} no such revision, or an entry of it is trimmed or belongs to no setting
   * @throws {ConflictException} settings are locked, were secrets, or changed since (`conflicts`, whose versions `force` takes)
   * @throws {SettingValidationException} an old value no longer fits its definition, or cannot be decrypted
   */
  revert(revision: number, options?: RevertOptions): Promise<RevertReport>
  /**
   * Keeps a change that was written with `confirmWithin`, or extends the time to do so by `within` seconds from now.
   * @throws {NotFoundException} nothing has to be kept of this revision
   * @throws {ConflictException} it is over; `extensions.state` says what became of it
   */
  keep(revision: number, options?: KeepOptions): Promise<void>
  /** All stored System and Application values except secrets; with `visibleTo` those that the caller may see. */
  export(options?: ExportOptions): SettingsExport
  /** Writes an export, all or nothing. @throws {SettingValidationException} with all errors by key */
  import(file: Pick<SettingsExport, 'settings'>, options?: ImportOptions): Promise<ImportReport>
  /** The values of definitions with `public: true`: callers who are not signed in may read them. */
  publicValues(): Readonly<Record<string, JsonValue>>
  /** The same as they hold in a tenant. Memory answers; a tenant who is not in it costs one query. */
  publicValues(of: { readonly tenant: string }): Promise<Readonly<Record<string, JsonValue>>>
  /**
   * Returns an element for the head of a page: the public values that hold for the caller of its request, with which the live
   * client of the page begins. It is data, which `script-src 'self'` allows. The page is not the same for all callers then.
   */
  publicDataElement(request: FastifyRequest): Promise<string>
  /** Counts what is stored for settings that no module defines, which is kept, but not shown. Visits their rows only. */
  orphans(): Promise<readonly KeyCount[]>
  /**
   * Copies what is stored for one setting, defined or not, to another one: before and after a deployment that renames it. With
   * the same name twice, values in the scope of an earlier definition go to that of today. Safe to repeat and to interrupt.
   * Cost: it reads the table of values.
   * @throws {NotFoundException} no module defines the target
   */
  copy(from: string, to: string, options?: CopyOptions): Promise<CopyReport>
  /**
   * Removes values and history of a key that no module defines, and of a defined one what is stored in scopes that it does not
   * have. In small transactions; safe to repeat and to interrupt.
   */
  forget(key: string): Promise<ForgetReport>
  /**
   * Encrypts all sensitive values with the active key, those in the history included, in small transactions. Cost: it reads
   * both tables. Values and versions stay as they are. Safe to repeat, to interrupt and to run twice at once.
   * @throws {FMOD_SETTINGS_ENCRYPTION_REQUIRED} no key is configured
   */
  reencrypt(): Promise<ReencryptReport>
  /**
   * Removes a user: values, their history, and the name with the note where the user wrote anything else. In small
   * transactions; safe to repeat and to interrupt. The other instances forget the user. Cost: what the user has left.
   */
  eraseUser(userId: string): Promise<ErasureReport>
  /**
   * Removes the values of a tenant and their history, and nobody's name. Before it the option `tenants` has to return null for
   * the members: what they write afterwards comes back.
   */
  eraseTenant(id: string): Promise<ErasureReport>
  /**
   * Ends the streams that a caller has on this instance, as after signing out. Those on others end within a minute, or about
   * five where requests of the caller get 429, 5xx or no answer.
   */
  endStreams(callerId: string): void
  /**
   * Reads all values from the database again, also what was changed there by hand. Never rejects; see `status`. What
   * other instances write arrives without it.
   */
  refresh(): Promise<void>
}

/** Names the hidden member of `app.settings` that holds its parts. */
export const partsOfSettings = Symbol('parts of settings')

/** Undefined of settings that another package or a test stands in for. */
export function partsOf(settings: Settings & { readonly [partsOfSettings]?: Parts }): Parts | undefined {
  return settings[partsOfSettings]
}
