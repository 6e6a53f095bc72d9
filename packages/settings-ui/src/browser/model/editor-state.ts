/** What a page shows, and how it changes: pure functions from one state to the next. */
import type { OpenChange, SettingsRequestError } from '@fastify-modular/settings/client'
import type { Messages } from '../../texts/messages.ts'
import { checkInput, parseInput, toInput } from './input.ts'
import { type Definition, type Draft, type Input, isSameJson, isSent, type SettingValue } from './setting.ts'
import type { Entry, OwnSources } from './source.ts'

export interface EditorState {
  /** `elsewhere`: the page is of another organisation than the one in which its reader works now. */
  readonly phase: 'loading' | 'ready' | 'failed' | 'elsewhere'
  /** Those that pages list. */
  readonly definitions: readonly Definition[]
  /** All of them: files and changes name others, too. */
  readonly byKey: ReadonlyMap<string, Definition>
  readonly values: ReadonlyMap<string, SettingValue>
  readonly drafts: ReadonlyMap<string, Draft>
  /** Names by the ids of those who have changed something, as far as the host names them. */
  readonly people: ReadonlyMap<string, string>
  /** Whose value the reader sees in place of one of the page, by key; undefined until it matters, null until it is known. */
  readonly own: OwnSources | null | undefined
  /** Whether drafts are `shown` in the page itself; `hidden`: what is saved is, on request; `saved`: what was shown is saved since a moment. */
  readonly preview: 'none' | 'shown' | 'hidden' | 'saved'
  /** Keys whose values are being saved. */
  readonly saving: ReadonlySet<string>
  /** What others have changed while the page was open, by key. */
  readonly news: ReadonlyMap<string, News>
  /** What is wrong, by key: with a draft; or a test asks for a setting without one, until the next edit. */
  readonly errors: ReadonlyMap<string, readonly string[]>
  /** Changes that wait to be kept, the first that is due first. */
  readonly open: readonly Waiting[]
  /** When the server answered last, as people say it, while it does not; an ended session says so itself. */
  readonly stale: string | null
  /** Why the last action failed. */
  readonly failure: SettingsRequestError | null
  /** The permission was taken away while the page was open. */
  readonly isForbidden: boolean
  /** What the last save has changed, and what held before, until something else is entered or saved. */
  readonly saved: ReadonlyMap<string, SettingValue>
  /**
   * Where the focus belongs when what had it is gone; a setting that is sought is brought into view, whatever group or search
   * hides it, and gets the focus from anywhere. A new object asks again.
   */
  readonly focus: { readonly key: string; readonly isSought?: boolean } | null
  /** What stands over the page. */
  readonly dialog: OpenDialog | null
  /** What the bar says besides: it goes with the next edit, the next save, or when it is dismissed. */
  readonly message: Message | null
  /** What is read out; a new object is read out again. */
  readonly announcement: { readonly text: string }
}

/** The dialogs of a page. */
export type OpenDialog =
  | { readonly kind: 'review' }
  | { readonly kind: 'import' }
  | { readonly kind: 'history'; readonly definition: Definition }
  | { readonly kind: 'reset'; readonly definition: Definition }
  /** A change set with secrets, or with settings whose change is to be confirmed. */
  | { readonly kind: 'revert'; readonly revision: number }

/** A sentence that is true now. */
export interface Message {
  readonly kind: 'done' | 'undone' | 'warn' | 'bad' | 'busy'
  readonly text: string
  /** A second, quieter sentence. */
  readonly hint?: string
  readonly undo?: (() => void) | undefined
  /** A change set with secrets: putting it back is confirmed first. */
  readonly asks?: number | undefined
  /** What is done in spite of what the message says. */
  readonly anyway?: (() => void) | undefined
  /** Another answer to it. */
  readonly action?: { readonly text: string; readonly run: () => void } | undefined
  /** To look its request up in the server's log. */
  readonly reference?: string | null | undefined
  /** It says itself how many drafts it is about. */
  readonly isOfDrafts?: boolean
}

/** A change that waits to be kept. */
export interface Waiting extends OpenChange {
  /** When it is due, by the clock of `performance.now()`. */
  readonly ends: number
  /** Milliseconds that there were to keep it, since it was made or the time was last extended. */
  readonly total: number
}

/** A change of one value by somebody else: of the row as long as it has this version. */
export interface News {
  readonly version: number
  /** The value before it. */
  readonly from: SettingValue
  /** The id of whoever made it; null where nobody says. */
  readonly by: string | null
  /** Milliseconds since 1970. */
  readonly at: number
  /** For a moment: the row is tinted. */
  readonly isFresh: boolean
}

export const initialState: EditorState = {
  phase: 'loading',
  definitions: [],
  byKey: new Map(),
  values: new Map(),
  drafts: new Map(),
  people: new Map(),
  own: undefined,
  preview: 'none',
  saving: new Set(),
  news: new Map(),
  errors: new Map(),
  open: [],
  stale: null,
  failure: null,
  isForbidden: false,
  saved: new Map(),
  focus: null,
  dialog: null,
  message: null,
  announcement: { text: '' },
}

/** The user has entered something; entering what is stored takes the draft away, unless something else is about to be stored. */
export function withInput(state: EditorState, definition: Definition, input: Input): EditorState {
  const value = state.values.get(definition.key)
  if (!value) return state
  const before = state.drafts.get(definition.key)
  const isStored = input === toInput(definition, value.value) && !state.saving.has(definition.key)
  if (isStored && !before?.theirs) return withoutDraft(state, definition.key)
  return withDraft(state, definition.key, { ...before, input })
}

/** What was wrong with the draft before is not known of this one. */
export function withDraft(state: EditorState, key: string, draft: Draft): EditorState {
  const { drafts, errors } = withoutDraft(state, key)
  return { ...state, errors, drafts: new Map(drafts).set(key, draft) }
}

export function withoutDraft(state: EditorState, key: string): EditorState {
  const isOther = ([each]: readonly [string, unknown]): boolean => each !== key
  const drafts = new Map([...state.drafts].filter(isOther))
  return { ...state, drafts, errors: new Map([...state.errors].filter(isOther)) }
}

/**
 * Values as they are now. Where the user has a draft, another value that was saved elsewhere is a conflict; if it is what the
 * draft says, the draft has done its work.
 */
export function withValues(state: EditorState, fresh: readonly SettingValue[]): EditorState {
  const values = new Map(state.values)
  const drafts = new Map(state.drafts)
  const saved = new Map(state.saved)
  const errors = new Map(state.errors)
  for (const value of fresh) {
    const { key, version } = value
    const [before, draft, definition] = [values.get(key), drafts.get(key), state.byKey.get(key)]
    // The same object again: its row is not rendered again.
    if (!isSameJson(before, value)) values.set(key, value)
    if (before?.version !== version) saved.delete(key)
    if (!before || !draft || !definition) continue
    const isShown = !definition.sensitive
    // Saved again, or another one and then this one: a draft of it is one still.
    if (before.version === version || (isShown && isSameJson(before.value, value.value))) {
      // What another user had saved is taken back.
      if (!draft.theirs) continue
      drafts.set(key, { input: draft.input })
      errors.delete(key)
    } else if (isShown && draft.input === toInput(definition, value.value)) {
      drafts.delete(key)
      errors.delete(key)
    } else {
      values.set(key, before)
      drafts.set(key, { ...draft, theirs: value })
    }
  }
  return { ...state, values, drafts, saved, errors }
}

/** These drafts are being sent. */
export function withSent(state: EditorState, keys: readonly string[]): EditorState {
  const drafts = [...state.drafts].map(
    ([key, draft]) => [key, keys.includes(key) ? { ...draft, sent: draft.input } : draft] as const,
  )
  return { ...state, drafts: new Map(drafts), saved: initialState.saved }
}

/** A value that was written from here: the draft with this input has done its work. */
export function withSaved(state: EditorState, value: SettingValue, sent?: Input): EditorState {
  const before = state.values.get(value.key)
  // The answer to a write does not say what would hold without it, nor who may write.
  const { inheritedValue, inheritedSource, canWrite } = before ?? {}
  const values = new Map(state.values).set(value.key, { inheritedValue, inheritedSource, canWrite, ...value })
  const draft = state.drafts.get(value.key)
  const next = { ...state, values }
  // Entered meanwhile: still a draft, now of the new value.
  return draft?.input === sent ? withoutDraft(next, value.key) : next
}

export function withErrors(
  state: EditorState,
  errors: Readonly<Record<string, readonly string[]>>,
): EditorState {
  return { ...state, errors: new Map([...state.errors, ...Object.entries(errors)]) }
}

/** The errors of drafts alone. */
export function errorsOfDrafts({ drafts, errors }: EditorState): EditorState['errors'] {
  return new Map([...errors].filter(([key]) => drafts.has(key)))
}

/** What to send for these drafts, and what is wrong with those that cannot be sent, as far as the page can see. */
export function readDrafts(
  { byKey, drafts, values }: EditorState,
  keys: Iterable<string>,
  messages: Messages,
): { readonly entries: readonly Entry[]; readonly errors: Record<string, readonly string[]> } {
  const entries: Entry[] = []
  const errors: Record<string, readonly string[]> = {}
  for (const key of keys) {
    const [draft, definition, stored] = [drafts.get(key), byKey.get(key), values.get(key)]
    if (!draft || !definition || !stored) continue
    const { scope, version, value: before } = stored
    const error = draft.theirs ? messages.decideFirst : checkInput(definition, draft.input, before, messages)
    const parsed = parseInput(definition, draft.input, before)
    if (error) errors[key] = [error]
    else if ('value' in parsed) entries.push({ key, scope, version, value: parsed.value })
  }
  return { entries, errors }
}

/** The drafts that cannot be saved as they are, and what a test asks for, in the order in which pages list settings. */
export function needsAttention({
  definitions,
  drafts,
  errors,
}: Pick<EditorState, 'definitions' | 'drafts' | 'errors'>): readonly Definition[] {
  return definitions.filter(({ key }) => errors.has(key) || drafts.get(key)?.theirs !== undefined)
}

/** The first of these settings on the page, for the focus. */
export function firstOf({ definitions }: EditorState, keys: readonly string[]): EditorState['focus'] {
  const first = definitions.find(({ key }) => keys.includes(key))
  return first ? { key: first.key } : null
}

/** Whether the user shall be asked before the drafts are saved. */
export function needsConfirmation({ definitions, drafts }: EditorState): boolean {
  return definitions.some(({ key, confirm }) => confirm && drafts.has(key))
}

/** Whether a preference is left that its own control does not save: one to be confirmed, or whose save has failed. */
export function needsSave(state: EditorState): boolean {
  const isLeft = [...state.drafts].some(([key, draft]) => isSent(draft) && !state.saving.has(key))
  return isLeft || needsConfirmation(state)
}
