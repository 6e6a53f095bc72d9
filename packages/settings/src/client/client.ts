/** The settings client over `fetch`. */
import type { JsonValue, SettingScope } from '../setting-definition.ts'
import { type Call, type CallOptions, createSend, pathOf, type SettingsClientOptions } from './request.ts'
import type { SettingsClient, WriteCondition } from './settings-client.ts'

/** A client for the settings routes: `createSettingsClient({ baseUrl: '/api/settings' })`. */
export function createSettingsClient(options: SettingsClientOptions = {}): SettingsClient {
  const send = createSend(options)

  return {
    list: ({ scope, group, q, tag, signal } = {}) =>
      send('', { query: { scope, group, q, tag }, ...given(signal) }),
    definitions: ({ q, tag, signal } = {}) => send('/definitions', { query: { q, tag }, ...given(signal) }),
    get: (key, scope, call) => send(pathOf(key), { query: { scope }, ...call }),
    resolved: <T>(reference: string | { readonly key: string }, call?: CallOptions) =>
      send<T>(pathOf(typeof reference === 'string' ? reference : reference.key, '/resolved'), call),
    set: (key, value, scope, condition) => send('', write('PUT', condition, { key, scope, value })),
    setMany: (updates, { signal } = {}) => send('/bulk', write('PUT', given(signal), updates)),
    preview: (updates, call) =>
      send('/bulk', { method: 'PUT', query: { dryRun: true }, body: updates, ...call }),
    reset: (key, scope, condition) => send(pathOf(key), { ...write('DELETE', condition), query: { scope } }),
    mine: (call) => send('/me', call),
    setMine: (key, value, condition) => send('/me', write('PUT', condition, { key, value })),
    resetMine: (key, condition) => send(`/me${pathOf(key)}`, write('DELETE', condition)),
    publicValues: (call) => send('/public', call),
    inspect: (key, call) => send(pathOf(key, '/inspect'), call),
    history: (key, { scope, before, limit, signal } = {}) =>
      send(pathOf(key, '/history'), { query: { scope, before, limit }, ...given(signal) }),
    historyEntry: (key, revision, { scope, signal } = {}) =>
      send(pathOf(key, `/history/${revision}`), { query: { scope }, ...given(signal) }),
    changes: ({ before, limit, signal } = {}) =>
      send('/changes', { query: { before, limit }, ...given(signal) }),
    rollback: (key, target, call) =>
      send(pathOf(key, '/rollback'), { method: 'POST', body: target, ...call }),
    exportSettings: (call) => send('/export', call),
    importSettings: ({ format, settings }, { mode, dryRun, revision, signal } = {}) => {
      const query = { mode, dryRun, revision }
      return send('/import', { method: 'POST', query, body: { format, settings }, ...given(signal) })
    },
  }
}

type WriteBody = { key: string; value: JsonValue; scope?: SettingScope } | readonly unknown[]

/** A write that answers with what is stored now. */
function write(method: 'PUT' | 'DELETE', { version, signal }: WriteCondition = {}, body?: WriteBody): Call {
  const condition = version === undefined ? {} : { 'if-match': `"r${version}"` }
  return { method, body, headers: { prefer: 'return=representation', ...condition }, ...given(signal) }
}

function given(signal: AbortSignal | undefined): CallOptions {
  return signal ? { signal } : {}
}
