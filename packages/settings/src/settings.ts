/** What `app.settings` is: the contract of the specification and the comfortable way to the same values. */
import type { SettingDefinitions, SettingsContract } from './contract.ts'
import type { WriteOptions } from './write/write.ts'
import type { TokenMap } from './definitions/builder.ts'
import type { Registry } from './definitions/registry.ts'
import type { DynamicKey, SettingKeyMap, SettingToken } from './definitions/tokens.ts'
import type { SettingsStats } from './diagnostics.ts'
import type { SettingListener } from './events/listeners.ts'
import type { HistoryFilter, HistoryPage, RollbackTarget } from './history/history.ts'
import type { ImportOptions, ImportReport, SettingsExport } from './history/transfer.ts'
import type { SettingsStatus } from './memory/coherence.ts'
import type { EffectiveChange, SharedValues } from './memory/shared-values.ts'
import type { SettingInspection } from './reading/inspect.ts'
import type { SettingsReader, UserReader } from './reading/reader.ts'
import type { RewrapReport } from './secrets/rewrap.ts'
import type { JsonValue, SettingDefinition } from './setting-definition.ts'

/** A row in the database whose setting no module defines any more. */
export interface OrphanedSetting {
  readonly key: string
  readonly scope: SettingDefinition['scope']
  /** For User scope: how many users have a value. */
  readonly rows: number
}

/** `app.settings`. Synchronous `get` reads System and Application values and the application's defaults of User ones. */
export interface Settings extends SettingsContract, SettingsReader {
  readonly definitions: SettingDefinitions
  /** Whether memory is known to agree with the database. */
  readonly status: SettingsStatus
  /** What has happened since the start, for metrics; also on `fastify-modular:settings:*` diagnostics channels. */
  readonly stats: SettingsStats
  /**
   * Adds definitions or token maps of a plugin that is no module, while the application boots.
   * @throws {FMOD_SETTINGS_FROZEN} the application is ready
   */
  define(...definitions: readonly (SettingDefinition | TokenMap)[]): this
  /** A reader of one user's values; null gives the shared ones. The user is loaded on first need and kept a while. */
  forUser(userId: string | null): Promise<UserReader>
  /**
   * Calls back when the value that `get` answers has changed, here or in another process; `'*'` for every setting.
   * Returns the function that ends it. Users' own values: listen to the event `SettingChanged`.
   * @throws {FMOD_SETTINGS_UNKNOWN_KEY} no module defines the key
   */
  on<T>(token: SettingToken<T>, listener: SettingListener<T>): () => void
  on<K extends keyof SettingKeyMap & string>(key: K, listener: SettingListener<SettingKeyMap[K]>): () => void
  on<K extends string>(key: '*' | DynamicKey<K>, listener: SettingListener): () => void
  /** Which layer supplies a value, or null for an unknown key. Sensitive values are masked. */
  inspect(key: string, userId?: string): Promise<SettingInspection | null>
  /** What happened to values, page by page, newest first; sensitive values are masked. */
  history(filter?: HistoryFilter): Promise<HistoryPage>
  /**
   * Writes again what a revision had made of a value.
   * @throws {NotFoundException} unknown setting, or the revision did not change it
   */
  rollback(target: RollbackTarget, options?: WriteOptions): Promise<void>
  /** All stored System and Application values except secrets. */
  exportSettings(): SettingsExport
  /** Writes an export, all or nothing. @throws {SettingValidationException} with all errors by key */
  importSettings(file: Pick<SettingsExport, 'settings'>, options?: ImportOptions): Promise<ImportReport>
  /** The values of definitions with `public: true`: what somebody who is not signed in may know. */
  publicValues(): Readonly<Record<string, JsonValue>>
  /** What is stored for settings that no module defines: kept, but not shown. Reads the whole table. */
  orphans(): Promise<readonly OrphanedSetting[]>
  /**
   * Seals all sensitive values with the active key, old ones of the history included, in small transactions; cost: it
   * reads both tables. Values and versions stay as they are. Safe to repeat, to interrupt and to run twice at once.
   * @throws {FMOD_SETTINGS_ENCRYPTION_REQUIRED} there is none
   */
  rewrap(): Promise<RewrapReport>
  /**
   * Reads all values from the database again, also what was changed there by hand. Never rejects; see `status`. What
   * other instances write arrives without it.
   */
  refresh(): Promise<void>
}

/** What test helpers work on. */
export interface SettingsInternals {
  readonly registry: Registry
  readonly sharedValues: SharedValues
  /** Calls the listeners of `settings.on`. */
  notify(changes: readonly EffectiveChange[]): void
}

const internals = new WeakMap<Settings, SettingsInternals>()

/** Remembers the internals of settings for as long as these live. */
export function rememberInternals(settings: Settings, own: SettingsInternals): void {
  internals.set(settings, own)
}

/** The internals of `app.settings`; undefined for an object that this package did not make. */
export function internalsOf(settings: Settings): SettingsInternals | undefined {
  return internals.get(settings)
}
