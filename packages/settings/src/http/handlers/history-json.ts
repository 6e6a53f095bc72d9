/** Entries of history as JSON text. Stored values are text already: they go into answers as they are. */
import type { StoredHistoryEntry } from '../../service/history.ts'
import { isJson } from '../../values/decode.ts'
import { fingerprint } from '../caching/kept-body.ts'

/** Bytes of a stored value up to which lists show it. */
const shownBytes = 4096

/** An entry of a list; `long` names the values that are `{ length, digest }` in place of themselves. */
export function toListedJson(entry: StoredHistoryEntry): string {
  const [oldValue, newValue] = [toShown(entry.oldText), toShown(entry.newText)]
  const long = [...(oldValue.isLong ? ['oldValue'] : []), ...(newValue.isLong ? ['newValue'] : [])]
  return splice(entry, oldValue.json, newValue.json, { long })
}

/** An entry with its values whole, however long. */
export function toWholeJson(entry: StoredHistoryEntry): string {
  return splice(entry, toJson(entry.oldText), toJson(entry.newText), {})
}

/** A member of a JSON object whose value is JSON text. */
export function member(name: string, json: string): string {
  return `${JSON.stringify(name)}:${json}`
}

function splice(entry: StoredHistoryEntry, oldValue: string, newValue: string, more: object): string {
  const { oldText: _old, newText: _new, ...plain } = entry
  const head = JSON.stringify({ ...plain, ...more }).slice(0, -1)
  return `${head},${member('oldValue', oldValue)},${member('newValue', newValue)}}`
}

function toShown(text: string | null): { readonly json: string; readonly isLong: boolean } {
  const length = text === null ? 0 : Buffer.byteLength(text)
  if (text === null || length <= shownBytes) return { json: toJson(text), isLong: false }
  return { json: JSON.stringify({ length, digest: fingerprint(text) }), isLong: true }
}

/** What something else than this package wrote must not break the answer. */
function toJson(text: string | null): string {
  return text !== null && isJson(text) ? text : 'null'
}
