/** Seals every sensitive value with the active key: after a new key was put first, or encryption was switched on. */
import { FMOD_SETTINGS_ENCRYPTION_REQUIRED } from '../../misuse-errors.ts'
import type { RowChange, RowId, SettingsStore, StoredRow, WriteResult } from '../../store/store.ts'
import type { Snapshot } from '../read/snapshot.ts'
import type { RowCodec } from '../row-codec.ts'
import type { Sealing } from './sealing.ts'

/** What `rewrap` did. */
export interface RewrapReport {
  /** Values that are sealed anew. */
  readonly rewrapped: number
  /** Values that the keys at hand cannot unseal, by key: they stay as they are. */
  readonly unreadable: readonly string[]
}

const batch = 200

/**
 * Safe to repeat and to interrupt; runs in batches, so that writers wait for none of it long. Neither events nor
 * listeners hear of it: no value changes. Old values in the history keep their keys.
 * @param committed takes what a batch changed
 * @throws {FMOD_SETTINGS_ENCRYPTION_REQUIRED} no key is configured
 */
export async function rewrap(
  store: SettingsStore,
  snapshot: Snapshot,
  sealing: Sealing,
  codec: RowCodec,
  committed: (written: WriteResult) => Promise<void>,
): Promise<RewrapReport> {
  const { activeKeyId } = sealing
  if (activeKeyId === null) throw new FMOD_SETTINGS_ENCRYPTION_REQUIRED('that are to be sealed')
  const unreadable = new Set<string>()
  let rewrapped = 0

  /** Undefined where nothing is to be done. */
  function reseal(row: StoredRow | undefined): RowChange | undefined {
    if (!row || (row.sealed && sealing.keyIdOf(row.value) === activeKeyId)) return undefined
    if (!row.sealed && !snapshot.find(row.key)?.setting.definition.sensitive) return undefined
    const { scope, userId, key } = row
    try {
      return { scope, userId, key, value: sealing.seal(row, codec.textOf(row, row)), sealed: true }
    } catch {
      unreadable.add(key)
      return undefined
    }
  }

  let after: RowId | null = null
  for (;;) {
    const rows: readonly StoredRow[] = await store.scan(after, batch)
    const last = rows.at(-1)
    if (!last) return { rewrapped, unreadable: [...unreadable].toSorted() }
    after = { scope: last.scope, userId: last.userId, key: last.key }
    const reads = rows.filter((row) => reseal(row))
    if (reads.length === 0) continue
    // Read again under the lock: somebody may have written meanwhile.
    const decide = (current: { get(id: RowId): StoredRow | undefined }) =>
      reads.flatMap((id) => reseal(current.get(id)) ?? [])
    const written = await store.write({ actor: null, origin: 'rewrap', reads, decide })
    rewrapped += written.changes.length
    if (written.changes.length > 0) await committed(written)
  }
}
