/** What a page shows, and how it changes: pure functions from one state to the next. */
import type { SettingsRequestError } from '@fastify-modular/settings/client'
import { toInput } from './input.ts'
import type { Definition, Draft, Input, SettingValue } from './setting.ts'

export interface EditorState {
  readonly phase: 'loading' | 'ready' | 'failed'
  readonly definitions: readonly Definition[]
  readonly values: ReadonlyMap<string, SettingValue>
  readonly drafts: ReadonlyMap<string, Draft>
  readonly saving: boolean
  /** Why the last action failed. */
  readonly failure: SettingsRequestError | null
  /** The permission was taken away while the page was open. */
  readonly isForbidden: boolean
  /** Keys whose errors are listed above the settings; a new object asks for the focus. */
  readonly summary: { readonly keys: readonly string[] } | null
  /** What a screen reader shall say; a new object says it again. */
  readonly announcement: { readonly text: string }
}

export const initialState: EditorState = {
  phase: 'loading',
  definitions: [],
  values: new Map(),
  drafts: new Map(),
  saving: false,
  failure: null,
  isForbidden: false,
  summary: null,
  announcement: { text: '' },
}

/** The user has entered something; entering what is stored takes the draft away. */
export function withInput(state: EditorState, definition: Definition, input: Input): EditorState {
  const value = state.values.get(definition.key)
  if (!value) return state
  const before = state.drafts.get(definition.key)
  if (input === toInput(definition, value.value) && !before?.theirs)
    return withoutDraft(state, definition.key)
  return withDraft(state, definition.key, { input, errors: [], theirs: before?.theirs })
}

export function withDraft(state: EditorState, key: string, draft: Draft): EditorState {
  return { ...state, drafts: new Map(state.drafts).set(key, draft) }
}

export function withoutDraft(state: EditorState, key: string): EditorState {
  if (!state.drafts.has(key)) return state
  const drafts = new Map(state.drafts)
  drafts.delete(key)
  return { ...state, drafts, summary: drafts.size === 0 ? null : state.summary }
}

/** Values as they are now. Where the user has a draft, a value that was changed elsewhere is a conflict. */
export function withValues(state: EditorState, fresh: readonly SettingValue[]): EditorState {
  const values = new Map(state.values)
  const drafts = new Map(state.drafts)
  for (const value of fresh) {
    const before = values.get(value.key)
    const draft = drafts.get(value.key)
    // The same object again: its row is not rendered again.
    if (before && JSON.stringify(before) === JSON.stringify(value)) continue
    if (before && draft && before.version !== value.version)
      drafts.set(value.key, { ...draft, theirs: value })
    else values.set(value.key, value)
  }
  return { ...state, values, drafts }
}

/** A value that was written from here: the draft that was sent has done its work. */
export function withSaved(state: EditorState, value: SettingValue, sent?: Input): EditorState {
  const before = state.values.get(value.key)
  // The answer to a write does not say what would hold without it.
  const values = new Map(state.values).set(value.key, { inheritedValue: before?.inheritedValue, ...value })
  const draft = state.drafts.get(value.key)
  const next = { ...state, values }
  // Entered while the save was under way: still a draft, now of the new value.
  return draft === undefined || (sent !== undefined && draft.input !== sent)
    ? next
    : withoutDraft(next, value.key)
}

/** Errors of drafts by key, and the list of them above the settings. */
export function withErrors(
  state: EditorState,
  errors: Readonly<Record<string, readonly string[]>>,
): EditorState {
  const drafts = new Map(state.drafts)
  for (const [key, messages] of Object.entries(errors)) {
    const draft = drafts.get(key)
    if (draft) drafts.set(key, { ...draft, errors: messages })
  }
  const keys = Object.keys(errors).filter((key) => drafts.has(key))
  return { ...state, drafts, summary: keys.length > 0 ? { keys } : state.summary }
}

/** Whether the user shall be asked before the drafts are saved. */
export function needsConfirmation({ definitions, drafts }: EditorState): boolean {
  return definitions.some(({ key, confirm }) => confirm && drafts.has(key))
}
