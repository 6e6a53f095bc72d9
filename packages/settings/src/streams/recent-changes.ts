/** Which keys the last revisions changed: what readers who come back have missed. */
import { randomBytes } from 'node:crypto'
import type { RevisedKey } from '../memory/shared-values.ts'

/** So many changes of one key are kept. */
const capacity = 1000

export class RecentChanges {
  #changes: readonly RevisedKey[] = []
  /** Changes of later revisions are all here. */
  #from = 0
  /** Stands for the history: another one has other revisions of the same numbers. */
  readonly #token = randomBytes(4).toString('hex')

  /** Names a revision. */
  idOf(revision: number): string {
    return `${revision}-${this.#token}`
  }

  add(changes: readonly RevisedKey[]): void {
    const all = [...this.#changes, ...changes]
    this.#changes = all.slice(-capacity)
    // Revisions may come out of their order.
    for (const { revision } of all.slice(0, -capacity)) this.#from = Math.max(this.#from, revision)
  }

  /** Begins anew. */
  clear(revision: number): void {
    this.#changes = []
    this.#from = revision
  }

  /** Whether an id names a revision that is not here yet. */
  isAhead(id: string, current: number): boolean {
    return (parse(id)?.revision ?? 0) > current
  }

  /** The keys that changed after a revision; undefined if that is not known. */
  since(id: string, current: number): ReadonlySet<string> | undefined {
    const { revision = -1, token } = parse(id) ?? {}
    if (token !== this.#token || revision < this.#from || revision > current) return undefined
    return new Set(this.#changes.filter((change) => change.revision > revision).map(({ key }) => key))
  }
}

function parse(id: string): { readonly revision: number; readonly token: string } | undefined {
  const [, revision, token] = /^(\d{1,15})-([0-9a-f]{8})$/.exec(id) ?? []
  return token === undefined ? undefined : { revision: Number(revision), token }
}
