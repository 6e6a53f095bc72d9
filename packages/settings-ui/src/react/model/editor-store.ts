/** The state of a page, and who wants to know when it becomes another. */
import { type EditorState, initialState } from './editor-state.ts'

export class EditorStore {
  #state = initialState
  readonly #listeners = new Set<() => void>()

  readonly getState = (): EditorState => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Replaces parts of the state. */
  update(part: Partial<EditorState>): void {
    this.#state = { ...this.#state, ...part }
    for (const listener of this.#listeners) listener()
  }
}
