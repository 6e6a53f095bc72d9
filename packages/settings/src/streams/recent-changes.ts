/** Which keys the last revisions changed: what readers who come back have missed. */
import type { RevisedKey } from '../memory/shared-values.ts'
import type { Revision } from '../store/revision.ts'

/** So many changes of one key are kept. */
export const recentCapacity = 1000

export class RecentChanges {
  #changes: readonly RevisedKey[] = []
  /** Changes of later revisions are all here; of none before `fill`. */
  #from = Infinity

  /** Revisions may come out of their order. */
  add(changes: readonly RevisedKey[]): void {
    const all = [...this.#changes, ...changes]
    this.#changes = all.slice(-recentCapacity)
    for (const { revision } of all.slice(0, -recentCapacity)) if (this.#from < revision) this.#from = revision
  }

  /** Takes the newest entries of the history, oldest first, unless it was read again meanwhile. */
  fill(entries: readonly RevisedKey[]): void {
    if (this.#from !== Infinity) return
    const later = this.#changes
    const [oldest] = entries
    this.#changes = entries.map(({ key, revision, token }) => ({ key, revision, token }))
    this.#from = oldest && entries.length === recentCapacity ? oldest.revision : 0
    this.add(later)
  }

  /** Forgets all up to a revision. */
  clear(revision: number): void {
    this.#changes = []
    this.#from = revision
  }

  /** The keys that changed after a revision; undefined if that is not known, or is of another history. */
  since(known: Revision | undefined, last: Revision): ReadonlySet<string> | undefined {
    if (!known || known.revision < this.#from) return undefined
    const isKnown = ({ revision, token }: Revision): boolean =>
      revision === known.revision && token === known.token
    if (!isKnown(last) && !this.#changes.some(isKnown)) return undefined
    return new Set(this.#changes.filter(({ revision }) => revision > known.revision).map(({ key }) => key))
  }
}
