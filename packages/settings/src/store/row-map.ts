/** Values by row. */
import type { RowId } from './store.ts'

/**
 * A map whose keys are rows. A text for each row, to look it up by, would cost a large bulk more than deciding it: rows
 * of one scope and user, as those of a bulk are, are found by their key alone.
 */
export class RowMap<T> {
  readonly #users = new Map<string, Map<string, T>>()
  #scope: RowId['scope'] | undefined
  #userId = ''
  #last = new Map<string, T>()

  get(id: RowId): T | undefined {
    return this.#keysOf(id).get(id.key)
  }

  set(id: RowId, value: T): void {
    this.#keysOf(id).set(id.key, value)
  }

  /** Whether the row was there. */
  delete(id: RowId): boolean {
    return this.#keysOf(id).delete(id.key)
  }

  #keysOf({ scope, userId }: RowId): Map<string, T> {
    if (scope === this.#scope && userId === this.#userId) return this.#last
    const user = `${scope}${userId}`
    const keys = this.#users.get(user) ?? new Map<string, T>()
    this.#users.set(user, keys)
    this.#scope = scope
    this.#userId = userId
    this.#last = keys
    return keys
  }
}
