/** The settings client, with one method for each route. */
import type { SettingToken } from '../definitions/tokens.ts'
import { type JsonValue, type SettingScope, toEtag } from '../setting-definition.ts'
import type { HistoryEntry, HistoryFilter, HistoryPage } from '../history/history.ts'
import type { RevertOptions, RevertReport } from '../history/revert.ts'
import type { ImportOptions, ImportReport, SettingsExport } from '../history/transfer.ts'
import type { SettingDefinitionDto } from '../http/localized-definitions.ts'
import type { People } from '../http/people.ts'
import type { SettingValueDto, ValueChange } from '../reading/dto.ts'
import type { SettingInspection } from '../reading/inspect.ts'
import type { SettingsFilter } from '../reading/list.ts'
import type { StoredWindow } from '../store/windows.ts'
import type { BulkSettingUpdate } from '../write/bulk.ts'
import type { WriteOptions } from '../write/write.ts'
import { type Call, type CallOptions, createSend, type SettingsClientOptions } from './request.ts'

/** Selects values. */
export type ListFilter = CallOptions & Pick<SettingsFilter, 'scope' | 'group'>

/** One of the caller's settings, with what holds if they have no value of their own. */
interface MySettingDto extends SettingValueDto {
  readonly inheritedValue: JsonValue
  /** Where that comes from; left out by applications without tenants. */
  readonly inheritedSource?: SettingValueDto['source']
}

/** A value of a tenant, with what it inherits. */
export interface TenantSettingDto extends SettingValueDto {
  readonly tenant: string
  readonly inheritedValue: JsonValue
  /** Whether the caller may write it in this tenant. */
  readonly canWrite: boolean
}

/** One value of a tenant to write; null clears it. */
export type TenantUpdate = Pick<BulkSettingUpdate, 'key' | 'value' | 'version'>

/** A System or Application value after a write. */
export interface WrittenSettingDto extends SettingValueDto {
  /** The change set of the write, which `revert` takes back; null where nothing changed. */
  readonly revision: number | null
}

/** Writes only if the row is still at this version; 0 is unset. A different one fails with status 412. */
export interface WriteCondition extends CallOptions {
  readonly version?: number | undefined
}

/** Which page of history, newest first. */
export type HistoryPageOptions = CallOptions & Pick<HistoryFilter, 'scope' | 'before' | 'limit'>

/** Which changes, newest first; members are combined with AND. */
export type ChangesFilter = CallOptions &
  Pick<HistoryFilter, 'before' | 'limit' | 'actor' | 'since'> &
  Pick<SettingsFilter, 'group'>

/** The changes of one write; a page may have only a part of them. */
export interface SettingChangeSet extends Pick<HistoryEntry, 'revision' | 'at' | 'actor'> {
  readonly entries: readonly HistoryEntry[]
}

/** Some change sets, newest first; `next` is for the option `before`, null at the end. */
export interface ChangesPage {
  readonly changes: readonly SettingChangeSet[]
  readonly next: string | null
  readonly people: People
}

/** Some history, newest first, and who made it. */
interface ListedHistoryPage extends HistoryPage {
  readonly people: People
}

/** One value, and for callers who may change it the name of its writer. */
interface GotSettingDto extends SettingValueDto {
  readonly people?: People
}

/** Which part of a change set is put back, and how. */
export interface RevertMode extends CallOptions, Pick<RevertOptions, 'keys' | 'force' | 'dryRun'> {
  readonly note?: string
}

/** How an export is written; at another revision than that of the dry run it fails with status 412. */
export type ImportMode = CallOptions & Pick<ImportOptions, 'mode' | 'dryRun' | 'revision'>

/** What a test of a resource found. */
export interface ProbeAnswer {
  readonly ok: boolean
  /** What the resource says; null where it works and says nothing. */
  readonly message: string | null
  /** Of a test that failed without a message of its own: to look it up in the log. */
  readonly requestId: string | null
}

/** A change that has to be kept, or what became of it. */
export interface KeptChange extends Pick<StoredWindow, 'revision' | 'state'> {
  /** ISO 8601. */
  readonly due: string
}

/** A change that waits to be kept. */
export interface OpenChange extends SettingChangeSet, KeptChange {
  /** How many of its entries the caller may not see. */
  readonly hidden: number
}

/** The changes that wait to be kept, the first that is due first. */
interface OpenChanges {
  readonly changes: readonly OpenChange[]
  readonly people: People
  /** The time of the clock by which they are due; ISO 8601. */
  readonly now: string
}

/** A change that had to be kept, with what became of it. */
export interface SettledChange extends KeptChange, Pick<StoredWindow, 'reasons'> {
  /** The id of the caller who made it. */
  readonly by: string | null
  readonly entries: readonly HistoryEntry[]
  readonly people: People
}

/** All methods reject with `SettingsRequestError`. */
export interface SettingsClient {
  /** System and Application values by group, order and key, or with User scope the caller's stored ones. */
  list(filter?: ListFilter): Promise<SettingValueDto[]>
  definitions(filter?: CallOptions): Promise<SettingDefinitionDto[]>
  get(key: string, scope: SettingScope, options?: CallOptions): Promise<GotSettingDto>
  /** The value that holds for the caller. */
  resolved<T>(token: SettingToken<T>, options?: CallOptions): Promise<T>
  resolved(key: string, options?: CallOptions): Promise<JsonValue>
  /** Writes a System or Application value, and resolves to the new one; null clears it. */
  set(
    key: string,
    value: JsonValue,
    scope: SettingScope,
    condition?: WriteCondition,
  ): Promise<WrittenSettingDto>
  /** All or nothing. */
  setMany(
    updates: readonly BulkSettingUpdate[],
    options?: CallOptions & Pick<WriteOptions, 'confirmWithin'>,
  ): Promise<WrittenSettingDto[]>
  /** What `setMany` would change; nothing is written. */
  preview(updates: readonly BulkSettingUpdate[], options?: CallOptions): Promise<ValueChange[]>
  /** Clears a System or Application value: the default holds again. */
  reset(key: string, scope: SettingScope, condition?: WriteCondition): Promise<WrittenSettingDto>
  /** The User settings with the caller's values and what the caller inherits; with `all` the Tenant ones as they hold, too. */
  mine(options?: CallOptions & { readonly all?: boolean }): Promise<MySettingDto[]>
  setMine(key: string, value: JsonValue, condition?: WriteCondition): Promise<SettingValueDto>
  resetMine(key: string, condition?: WriteCondition): Promise<SettingValueDto>
  /** The Tenant and User settings with the values of the caller's tenant. Status 404 without one, 403 without the right to write them. */
  tenantValues(options?: CallOptions): Promise<TenantSettingDto[]>
  /**
   * Writes values of a tenant, all or nothing. Status 409 with `conflicts` where a version is stale, and with the code
   * `TENANT_CHANGED` where the caller works in another tenant by now: nothing is written.
   */
  setTenantValues(
    tenant: string,
    updates: readonly TenantUpdate[],
    options?: CallOptions,
  ): Promise<SettingValueDto[]>
  /** What `setTenantValues` would change; nothing is written. */
  previewTenantValues(
    tenant: string,
    updates: readonly TenantUpdate[],
    options?: CallOptions,
  ): Promise<ValueChange[]>
  /** Clears a value of a tenant: what it inherits holds again. */
  resetTenantValue(tenant: string, key: string, condition?: WriteCondition): Promise<SettingValueDto>
  /** The values of definitions with `public: true`, by key; needs no signed-in caller. */
  publicValues(options?: CallOptions): Promise<Readonly<Record<string, JsonValue>>>
  /** Which layer supplies the value, and what the others hold. Needs `Settings.Update`, as do history and changes. */
  inspect(key: string, options?: CallOptions): Promise<SettingInspection>
  history(key: string, page?: HistoryPageOptions): Promise<ListedHistoryPage>
  changes(filter?: ChangesFilter): Promise<ChangesPage>
  /** Writes the value of a revision again, and resolves to the restored value; with `version` only if the row is still at it. */
  restore(
    key: string,
    target: {
      readonly scope: SettingScope
      readonly revision: number
      readonly note?: string
      /** With Tenant scope: whose value it is. */
      readonly tenant?: string
    },
    condition?: WriteCondition,
  ): Promise<SettingValueDto>
  /** Puts back everything that a change set replaced, all or nothing; status 409 with `conflicts` where it changed since. */
  revert(revision: number, options?: RevertMode): Promise<RevertReport>
  /** The changes that wait to be kept. */
  openChanges(options?: CallOptions): Promise<OpenChanges>
  /** A change that waits to be kept, or waited; only those of its entries that the caller may see. */
  change(revision: number, options?: CallOptions): Promise<SettledChange>
  /** Keeps a change, or extends the time to do so by `within` seconds from now. Status 409 where it is over. */
  keep(revision: number, options?: CallOptions & { readonly within?: number }): Promise<KeptChange>
  /** Tests a resource with values by key that are not saved. Status 429 where it was tested too often. */
  probe(
    resource: string,
    drafts: Readonly<Record<string, JsonValue>>,
    options?: CallOptions,
  ): Promise<ProbeAnswer>
  export(options?: CallOptions): Promise<SettingsExport>
  import(file: Pick<SettingsExport, 'format' | 'settings'>, options?: ImportMode): Promise<ImportReport>
}

/** A client for the settings routes: `createSettingsClient({ baseUrl: '/api/settings' })`. */
export function createSettingsClient(options: SettingsClientOptions = {}): SettingsClient {
  const send = createSend(options)

  return {
    list: ({ scope, group, signal } = {}) => send('', { query: { scope, group }, signal }),
    definitions: ({ signal } = {}) => send('/definitions', { signal }),
    get: (key, scope, call) => send(pathOf(key), { query: { scope }, ...call }),
    resolved: <T>(reference: string | { readonly key: string }, call?: CallOptions) =>
      send<T>(pathOf(typeof reference === 'string' ? reference : reference.key, '/resolved'), call),
    set: (key, value, scope, condition) => send('', write('PUT', { key, scope, value }, condition)),
    setMany: (updates, { signal, confirmWithin } = {}) =>
      send('/bulk', { ...write('PUT', updates, { signal }), query: { confirmWithin } }),
    preview: (updates, call) =>
      send('/bulk', { method: 'PUT', query: { dryRun: true }, body: updates, ...call }),
    reset: (key, scope, condition) =>
      send(pathOf(key), { ...write('DELETE', undefined, condition), query: { scope } }),
    mine: ({ all, signal } = {}) => send('/me', { query: { all }, signal }),
    setMine: (key, value, condition) => send('/me', write('PUT', { key, value }, condition)),
    resetMine: (key, condition) => send(`/me${pathOf(key)}`, write('DELETE', undefined, condition)),
    tenantValues: (call) => send('/tenant', call),
    setTenantValues: (tenant, updates, { signal } = {}) =>
      send('/tenant', write('PUT', ofTenant(tenant, updates), { signal })),
    previewTenantValues: (tenant, updates, call) =>
      send('/tenant', { method: 'PUT', query: { dryRun: true }, body: ofTenant(tenant, updates), ...call }),
    resetTenantValue: (tenant, key, condition) =>
      send(`/tenant${pathOf(key)}`, { ...write('DELETE', undefined, condition, tenant), query: { tenant } }),
    publicValues: (call) => send('/public', call),
    inspect: (key, call) => send(pathOf(key, '/inspect'), call),
    history: (key, { scope, before, limit, signal } = {}) =>
      send(pathOf(key, '/history'), { query: { scope, before, limit }, signal }),
    changes: ({ before, limit, group, actor, since, signal } = {}) =>
      send('/changes', { query: { before, limit, group, actor, since }, signal }),
    restore: (key, target, condition) =>
      send(pathOf(key, '/restore'), write('POST', target, condition, target.tenant)),
    revert: (revision, { dryRun, keys, force, note, signal } = {}) => {
      const body = { keys, force, note }
      return send(`/changes/${revision}/revert`, { method: 'POST', query: { dryRun }, body, signal })
    },
    openChanges: (call) => send('/changes', { query: { state: 'open' }, ...call }),
    change: (revision, call) => send(`/changes/${revision}`, call),
    keep: (revision, { within, ...call } = {}) =>
      send(`/changes/${revision}/keep`, { method: 'POST', body: { within }, ...call }),
    probe: (resource, drafts, call) =>
      send(`/resources${pathOf(resource, '/probe')}`, { method: 'POST', body: drafts, ...call }),
    export: (call) => send('/export', call),
    import: ({ format, settings }, { mode, dryRun, revision, signal } = {}) => {
      const body = { format, settings }
      return send('/import', {
        ...write('POST', body, { version: revision, signal }),
        query: { mode, dryRun },
      })
    },
  }
}

/** A write that is answered with the stored value. */
function write(
  method: 'PUT' | 'POST' | 'DELETE',
  body: object | undefined,
  { version, signal }: WriteCondition = {},
  tenant?: string,
): Call {
  const condition = version === undefined ? {} : { 'if-match': toEtag(version, tenant) }
  return { method, body, headers: { prefer: 'return=representation', ...condition }, signal }
}

/** The updates as a request has them: the server refuses them where it has another tenant. */
function ofTenant(tenant: string, updates: readonly TenantUpdate[]): readonly object[] {
  return updates.map(({ key, value, version }) => ({ key, value, version, tenant }))
}

/** A path below the prefix; `.` stands as it is, as keys have it. */
function pathOf(key: string, rest = ''): string {
  return `/${encodeURIComponent(key)}${rest}`
}
