/** When the history of a value is trimmed: often enough to bound it, seldom enough to cost next to nothing. */
import { rowIdText } from './row-id.ts'
import type { AppliedChange, WriteResult } from './store.ts'

/** Writes of a value for each trimming of its history. */
const interval = 8
/** Values whose writes are counted; those of the others are trimmed once more than needed. */
const capacity = 10_000

/** Entries that one trimming of a value removes at most, so that no write is long; the next ones remove the rest. */
export const trimmedAtOnce = 500

/** Counts the writes of values in this process. */
export class TrimTurns {
  readonly #last = new Map<string, { readonly revision: number; readonly count: number }>()

  /** The changes whose values are to be trimmed: every eighth, and each one after a write that was not counted here. */
  due({ changes, revision }: WriteResult): readonly AppliedChange[] {
    if (this.#last.size > capacity) this.#last.clear()
    return changes.filter((change) => {
      const name = rowIdText(change)
      const last = this.#last.get(name)
      const isNext = last !== undefined && last.revision === change.before?.revision
      const count = isNext ? (last.count + 1) % interval : 0
      this.#last.set(name, { revision, count })
      return count === 0
    })
  }
}
