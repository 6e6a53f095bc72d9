/** The life of a settings page: loads, keeps drafts, saves, and lets nothing that was entered get lost. */
import type { SettingsRequestError } from '@fastify-modular/settings/client'
import { format, type Messages, plural } from '../messages.ts'
import {
  type Announcement,
  type EditorState,
  initialState,
  noKeys,
  withDraft,
  withErrors,
  withInput,
  withoutDraft,
  withSaved,
  withValues,
} from './editor-state.ts'
import { checkInput, parseInput, toInput } from './input.ts'
import type { Definition, Input, SettingValue } from './setting.ts'
import { type Entry, type SaveOutcome, type SettingsSource, toFailure } from './source.ts'

const noValues: ReadonlyMap<string, SettingValue> = new Map()

export type SettingsEditor = ReturnType<typeof createEditor>

/** The texts of the editor and their language. */
export interface Language {
  readonly messages: Messages
  readonly locale: string
}

/**
 * @param language returns the language of the moment: it may change without any loss
 * @param onSaved is called after each change made from here, so that other tabs can be notified
 */
export function createEditor(source: SettingsSource, language: () => Language, onSaved: () => void) {
  let state: EditorState = initialState
  /** Loads begun; the answers to all but the latest come too late. */
  let loads = 0
  /** Writes made from here; what was read while one was made may be older than its answer. */
  let writes = 0
  /** The last of the preferences' saves. */
  let commits: Promise<void> = Promise.resolve()
  const listeners = new Set<() => void>()

  function update(next: EditorState): void {
    if (next === state) return
    state = next
    for (const listener of listeners) listener()
  }

  function announce(text: string, how: Omit<Announcement, 'text'> = {}): void {
    update({ ...state, announcement: { text, ...how } })
  }

  function fail(error: unknown): void {
    const failure = toFailure(error)
    update({ ...state, failure, isForbidden: state.isForbidden || failure.status === 403 })
  }

  async function load(): Promise<void> {
    const own = ++loads
    update({ ...state, phase: 'loading', failure: null })
    try {
      const [all, values] = await Promise.all([source.definitions(), source.values()])
      if (own !== loads) return
      const definitions = all.filter(({ hidden }) => !hidden)
      update({ ...withValues({ ...state, definitions }, values), phase: 'ready' })
    } catch (error) {
      if (own === loads) update({ ...state, phase: 'failed', failure: toFailure(error) })
    }
  }

  /** Loads what other users have saved meanwhile. A failure is ignored: the next action reports it. */
  async function refresh(): Promise<void> {
    if (state.phase !== 'ready' || state.saving.size > 0) return
    const before = writes
    try {
      const fresh = await source.values()
      if (writes === before) update(withValues(state, fresh))
    } catch {
      // as said
    }
  }

  function edit(definition: Definition, input: Input): void {
    update({ ...withInput(state, definition, input), saved: noValues })
  }

  /** Looks at a draft when the user leaves its control; preferences are saved then. */
  function leave({ key }: Definition): void {
    if (state.drafts.has(key) && source.isOwn) void commit(key)
    else update(withErrors(state, errorsOf([key])))
  }

  /** Preferences are saved one after the other, in the order in which they were changed; what could not be sent goes along. */
  function commit(key: string): Promise<void> {
    const draft = state.drafts.get(key)
    // What was refused is not sent again by leaving it.
    if (!draft || draft.errors.length > 0) return commits
    return queue(() => (state.failure ? sendable() : [key]))
  }

  /** A save that throws (a host's function did) keeps no later one waiting. */
  function queue(keys: () => readonly string[]): Promise<void> {
    const run = (): Promise<void> => saveDrafts(keys())
    commits = commits.then(run, run)
    return commits
  }

  /** The drafts that nobody has refused. */
  function sendable(): readonly string[] {
    return [...state.drafts].flatMap(([key, { errors }]) => (errors.length > 0 ? [] : [key]))
  }

  function undo(key: string): void {
    const { theirs } = state.drafts.get(key) ?? {}
    const next = { ...withoutDraft(state, key), focus: { key } }
    update(theirs ? withSaved(next, theirs) : next)
  }

  function discard(): void {
    const { drafts } = state
    const [first] = listed(drafts.keys())
    for (const key of drafts.keys()) undo(key)
    const restore = (): void => {
      // What was changed elsewhere meanwhile is the newer one.
      const kept = new Map([...drafts].filter(([key]) => !state.drafts.has(key)))
      update({ ...state, drafts: new Map([...state.drafts, ...kept]), focus: first ? { key: first } : null })
      void refresh()
    }
    const { messages, locale } = language()
    const text = plural(messages.discarded, drafts.size, locale)
    update({
      ...state,
      failure: null,
      focus: first ? { key: first } : null,
      announcement: { text, undo: restore },
    })
  }

  /** Lets the user's value replace the one that another user has saved. */
  function keepMine(key: string): void {
    const draft = state.drafts.get(key)
    const definition = state.definitions.find((each) => each.key === key)
    if (!draft?.theirs || !definition) return
    const values = new Map(state.values).set(key, draft.theirs)
    const isEqual = draft.input === toInput(definition, draft.theirs.value) && !definition.sensitive
    const next = { ...state, values, focus: { key } }
    update(isEqual ? withoutDraft(next, key) : withDraft(next, key, { input: draft.input, errors: [] }))
    if (source.isOwn) void commit(key)
  }

  /** What is wrong with these drafts, as far as the page can see. */
  function errorsOf(keys: Iterable<string>): Record<string, readonly string[]> {
    const { messages } = language()
    const errors: Record<string, readonly string[]> = {}
    for (const key of keys) {
      const draft = state.drafts.get(key)
      const definition = state.definitions.find((each) => each.key === key)
      const value = state.values.get(key)
      if (!draft || !definition || !value) continue
      const error = draft.theirs
        ? messages.decideFirst
        : checkInput(definition, draft.input, value.value, messages)
      if (error) errors[key] = [error]
    }
    return errors
  }

  /** Keys in the order of the page. */
  function listed(keys: Iterable<string>): readonly string[] {
    const wanted = new Set(keys)
    return state.definitions.flatMap(({ key }) => (wanted.has(key) ? [key] : []))
  }

  /** Sends all drafts; those that mean nothing, and those in conflict, are shown instead, all at once. */
  async function save(): Promise<void> {
    if (source.isOwn) {
      const keys = [...state.drafts.keys()]
      return queue(() => keys)
    }
    if (state.saving.size === 0) await saveDrafts([...state.drafts.keys()])
  }

  async function saveDrafts(wanted: readonly string[]): Promise<void> {
    const keys = wanted.filter((key) => state.drafts.has(key))
    if (keys.length === 0) return
    const errors = errorsOf(keys)
    const [wrong] = listed(Object.keys(errors))
    update({ ...withErrors(state, errors), failure: null })
    const ready = keys.filter((key) => !(key in errors))
    if (wrong !== undefined && (!source.isOwn || ready.length === 0)) return showErrors(wrong)
    const sent = new Map(ready.map((key) => [key, state.drafts.get(key)?.input ?? '']))
    const before = new Map(ready.flatMap((key) => [[key, state.values.get(key)] as const]))
    update({ ...state, saving: new Set(ready), saved: noValues })
    writes++
    const outcome = await source.save(toEntries(state, ready))
    writes++
    update({ ...state, saving: noKeys })
    await settle(outcome, sent, before)
  }

  /** The focus goes to the first of them; a preference that is being left keeps to itself. */
  function showErrors(key: string): void {
    if (!source.isOwn) update({ ...state, focus: { key, isError: true } })
  }

  async function settle(
    { saved, keys, error }: SaveOutcome,
    sent: ReadonlyMap<string, Input>,
    before: ReadonlyMap<string, SettingValue | undefined>,
  ): Promise<void> {
    for (const [index, key] of keys.entries()) {
      const value = saved[index]
      update(value ? withSaved(state, value, sent.get(key)) : withoutDraft(state, key))
    }
    if (keys.length > 0) {
      const [first] = listed(keys)
      const undoable = new Map(keys.flatMap((key) => toEntry(key, before.get(key))))
      update({ ...state, saved: undoable, focus: first ? { key: first } : null })
      onSaved()
    }
    const isStale = error && (error.status === 409 || error.status === 412)
    if (isStale || saved.includes(undefined)) await refresh()
    const { messages, locale } = language()
    if (!error) {
      const undo = canUndo(keys) ? { undo: () => void undoSaves(keys) } : {}
      return announce(plural(messages.saved, keys.length, locale), { isQuiet: source.isOwn, ...undo })
    }
    update(withErrors(state, error.errors))
    const [wrong] = listed(Object.keys(error.errors).filter((key) => state.drafts.has(key)))
    if (wrong !== undefined) showErrors(wrong)
    if (isStale) showConflicts(error)
    else if (error.status !== 422 || hasErrorsElsewhere(state, error)) fail(error)
  }

  function showConflicts(error: SettingsRequestError): void {
    const { messages } = language()
    const changed = [...state.drafts].filter(([, { theirs }]) => theirs).map(([key]) => key)
    const texts = [
      ...changed.map((key) => [key, [messages.decideFirst]]),
      ...error.locked.map((key) => [key, [messages.lockedHint]]),
    ]
    if (texts.length === 0) return fail(error)
    update(withErrors(state, Object.fromEntries(texts)))
    const [wrong] = listed(Object.keys(Object.fromEntries(texts)))
    if (wrong !== undefined) showErrors(wrong)
  }

  /** Takes the stored value away. */
  async function reset(definition: Definition): Promise<void> {
    const value = state.values.get(definition.key)
    if (value) await write(definition, 'resetDone', () => source.reset(value))
  }

  /** Nobody knows what a secret was before. */
  function canUndo(keys: readonly string[]): boolean {
    return state.definitions.every(({ key, sensitive }) => !sensitive || !keys.includes(key))
  }

  /** Puts back what held before a save, one setting after the other. */
  async function undoSaves(keys: readonly string[]): Promise<void> {
    const { saved } = state
    for (const definition of state.definitions) {
      const before = keys.includes(definition.key) ? saved.get(definition.key) : undefined
      // oxlint-disable-next-line no-await-in-loop -- so that the last one is announced last
      if (before) await putBack(definition, before)
    }
  }

  /** Puts back what held before the last save. */
  async function undoSave(definition: Definition): Promise<void> {
    const before = state.saved.get(definition.key)
    if (before) await putBack(definition, before)
  }

  async function putBack(definition: Definition, before: SettingValue): Promise<void> {
    const value = state.values.get(definition.key)
    if (!value) return
    await write(definition, 'undone', async () => {
      if (!before.isOverridden) return source.reset(value)
      const { saved, error } = await source.save([{ ...before, version: value.version }])
      if (error) throw error
      return saved[0]
    })
  }

  /** A change of one setting that is not a draft. */
  async function write(
    { key, displayName: name }: Definition,
    done: 'resetDone' | 'undone',
    change: () => Promise<SettingValue | undefined>,
  ): Promise<void> {
    try {
      writes++
      const after = await change()
      writes++
      update({ ...state, failure: null, saved: noValues })
      if (after) update(withSaved(state, after))
      else await refresh()
      update({ ...state, focus: { key } })
      onSaved()
      announce(format(language().messages[done], { name }), { isQuiet: source.isOwn })
    } catch (error) {
      if (toFailure(error).status === 412) {
        await refresh()
        announce(format(language().messages.changedMeanwhile, { name }))
      } else fail(error)
    }
  }

  return {
    isOwn: source.isOwn,
    getState: () => state,
    subscribe(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    load,
    refresh,
    edit,
    leave,
    commit,
    undo,
    discard,
    keepMine,
    save,
    reset,
    undoSave,
    announce,
    dismiss: () => update({ ...state, failure: null }),
    changed: onSaved,
  }
}

/** What to send; errors were looked for before. */
function toEntries({ definitions, drafts, values }: EditorState, keys: readonly string[]): readonly Entry[] {
  return keys.flatMap((key) => {
    const definition = definitions.find((each) => each.key === key)
    const value = values.get(key)
    const draft = drafts.get(key)
    if (!definition || !value || !draft) return []
    const parsed = parseInput(definition, draft.input, value.value)
    return 'problem' in parsed
      ? []
      : [{ key, scope: value.scope, value: parsed.value, version: value.version }]
  })
}

function toEntry<T>(key: string, value: T | undefined): readonly (readonly [string, T])[] {
  return value === undefined ? [] : [[key, value]]
}

/** A rule about several settings may name one that was not touched. */
function hasErrorsElsewhere({ drafts }: EditorState, { errors }: SettingsRequestError): boolean {
  const keys = Object.keys(errors)
  return keys.length === 0 || keys.some((key) => !drafts.has(key))
}
