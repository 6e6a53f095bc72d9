/** Reports drafts to what surrounds a page, which shows them before they are saved: at most once a frame, and never a secret or a System setting. */
import { SettingScope } from '@fastify-modular/settings/client'
import type { Messages } from '../../texts/messages.ts'
import type { Preview } from '../../preview.ts'
import type { EditorState } from './editor-state.ts'
import type { SettingsEditor } from './editor.ts'
import { checkInput, parseInput } from './input.ts'
import { type JsonValue, toDefault } from './setting.ts'

/** Shows a value where its setting shows on the page; undefined: what is saved is shown again. */
export type ShowPreview = (key: string, value: JsonValue | undefined) => void

interface Page {
  /** The settings that are previewed. */
  readonly preview: Preview
  readonly messages: Messages
}

type Values = ReadonlyMap<string, JsonValue>

/** Milliseconds for which the toggle says that what was shown is saved. */
const savedTime = 2000

export class Previewer {
  readonly #editor: SettingsEditor
  readonly #onPreview: ShowPreview
  readonly #page: () => Page
  /** The last valid value of each draft. */
  #values: Values = new Map()
  #reported = new Map<string, JsonValue>()
  #frame = 0

  /** @param page returns what holds at the moment */
  constructor(editor: SettingsEditor, onPreview: ShowPreview, page: () => Page) {
    this.#editor = editor
    this.#onPreview = onPreview
    this.#page = page
  }

  /** Returns what ends it: then nothing is previewed any more. */
  start(): () => void {
    const unsubscribe = this.#editor.subscribe(() => {
      this.#frame ||= requestAnimationFrame(() => this.#follow())
    })
    return () => {
      unsubscribe()
      cancelAnimationFrame(this.#frame)
      this.#frame = 0
      this.#values = new Map()
      this.#enter('none')
    }
  }

  readonly toggle = (): void => {
    if (this.#values.size > 0) this.#enter(this.#editor.state.preview === 'shown' ? 'hidden' : 'shown')
  }

  #follow(): void {
    this.#frame = 0
    const before = this.#values
    const { drafts, saved, preview } = this.#editor.state
    this.#values = this.#valuesOf()
    const done = [...before.keys()].filter((key) => !drafts.has(key) && saved.has(key))
    // It stays as it is shown: the host reads what holds now.
    for (const key of done) this.#reported.delete(key)
    const isChanged = [...this.#values].some(([key, value]) => before.get(key) !== value)
    if (isChanged) this.#enter('shown')
    else if (this.#values.size > 0) this.#enter(preview)
    else if (done.length > 0) this.#enter('saved')
    else if (preview !== 'saved') this.#enter('none')
  }

  /** What this reader will have after saving. */
  #valuesOf(): Values {
    const { phase, byKey, drafts, values, own, errors } = this.#editor.state
    const { preview, messages } = this.#page()
    const next = new Map<string, JsonValue>()
    // What is meant for another organisation is not what this reader will have.
    if (phase === 'elsewhere') return next
    for (const [key, { input }] of drafts) {
      const definition = byKey.get(key)
      const value = values.get(key)
      if (!definition || !value || !Object.hasOwn(preview, key)) continue
      const { sensitive, scope } = definition
      if (sensitive || scope === SettingScope.System) continue
      if (scope > SettingScope.Application && own?.has(key) !== false) {
        if (own === undefined) this.#editor.readOwn()
        continue
      }
      const parsed = parseInput(definition, input, value.value)
      const problem = errors.get(key)?.[0] ?? checkInput(definition, input, value.value, messages)
      const shown =
        'value' in parsed && problem === undefined
          ? (parsed.value ?? toDefault(definition))
          : this.#values.get(key)
      if (shown !== undefined) next.set(key, shown)
    }
    return next
  }

  #enter(phase: EditorState['preview']): void {
    const shown = new Map(phase === 'shown' ? this.#values : [])
    for (const key of new Set([...this.#reported.keys(), ...shown.keys()])) {
      const value = shown.get(key)
      if (this.#reported.get(key) !== value) this.#onPreview(key, value)
    }
    this.#reported = shown
    if (phase === this.#editor.state.preview) return
    this.#editor.arrive((state) => ({ ...state, preview: phase }))
    if (phase === 'saved')
      setTimeout(() => this.#editor.state.preview === phase && this.#enter('none'), savedTime)
  }
}
