/** Encrypts every secret with the active key, in the history too: after a new key was put first, or encryption was switched on. */
import { setImmediate } from 'node:timers/promises'
import { errorCodes } from '../misuse-errors.ts'
import type { Parts } from '../parts.ts'
import type { HistoryRow, Reencrypted, RowId, StoredRow } from '../store/store.ts'

/** What `reencrypt` did. */
export interface ReencryptReport {
  /** Values that are encrypted anew. */
  readonly reencrypted: number
  /** Entries of the history whose old or new value is encrypted anew. */
  readonly history: number
  /** Keys of settings with a value, or an old one, that the keys at hand cannot decrypt: it stays as it is. */
  readonly unreadable: readonly string[]
}

/** So many rows, at most twice the longest value each, are in memory at once and wait for one transaction. */
const portion = 100

/**
 * Safe to repeat, to interrupt and to run twice at once: each portion is a transaction, and skips what is already
 * encrypted. No value changes: versions stay, and neither events nor listeners are notified.
 * @throws {FMOD_SETTINGS_ENCRYPTION_REQUIRED} no key is configured
 */
export async function reencrypt({
  store,
  encryption,
  registry,
  coherence,
  log,
}: Parts): Promise<ReencryptReport> {
  const { activeKeyId } = encryption
  if (activeKeyId === null) throw new errorCodes.FMOD_SETTINGS_ENCRYPTION_REQUIRED('that are to be encrypted')
  const unreadable = new Set<string>()
  let reencrypted = 0
  let history = 0

  /** The same text where it stays as it is. */
  function encryptText(id: RowId, value: string | null, encrypted: boolean) {
    const same = { value, encrypted }
    if (value === null) return same
    const isSensitive = registry.find(id.key)?.definition.sensitive === true
    if (encrypted ? encryption.keyIdOf(value) === activeKeyId : !isSensitive) return same
    try {
      const text = encrypted ? encryption.decrypt(id, value) : value
      return { value: encryption.encrypt(id, text), encrypted: true }
    } catch {
      unreadable.add(id.key)
      return same
    }
  }

  function encryptValue(before: StoredRow): Reencrypted<StoredRow>[] {
    const { value, encrypted } = encryptText(before, before.value, before.encrypted)
    return value === null || value === before.value
      ? []
      : [{ before, after: { ...before, value, encrypted } }]
  }

  function encryptEntry(before: HistoryRow): Reencrypted<HistoryRow>[] {
    const old = encryptText(before, before.oldValue, before.oldEncrypted)
    const now = encryptText(before, before.newValue, before.newEncrypted)
    if (old.value === before.oldValue && now.value === before.newValue) return []
    const after = { ...before, oldValue: old.value, oldEncrypted: old.encrypted }
    return [{ before, after: { ...after, newValue: now.value, newEncrypted: now.encrypted } }]
  }

  // Values first: later writes then record no plain text in the history as an old value.
  for await (const rows of pages((after: StoredRow | null) => store.scan.values(after, portion))) {
    const values = rows.flatMap(encryptValue)
    if (values.length > 0) reencrypted += await store.reencrypt({ values, history: [] })
  }
  for await (const rows of pages((after: HistoryRow | null) => store.scan.history(after, portion))) {
    const entries = rows.flatMap(encryptEntry)
    if (entries.length > 0) history += await store.reencrypt({ values: [], history: entries })
  }
  await coherence.reload() // memory has the texts too, and may become able to read some
  const report = { reencrypted, history, unreadable: [...unreadable].toSorted() }
  log.info(
    { audit: 'settings.reencrypt', ...report },
    'sensitive settings were encrypted with the newest key',
  )
  return report
}

/**
 * Yields page after page until one is empty; `read` returns the rows after the one that it gets. Between two pages the
 * event loop makes a turn: requests would wait for a synchronous store otherwise.
 */
export async function* pages<T>(
  read: (after: T | null) => Promise<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  for (let rows = await read(null), last = rows.at(-1); last; rows = await read(last), last = rows.at(-1)) {
    yield rows
    await setImmediate()
  }
}
