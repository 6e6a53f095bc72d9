/** The life of a settings page: loads, keeps drafts, saves, and lets nothing that was entered get lost. */
import type { SettingsRequestError } from '@fastify-modular/settings/client'
import { format, type Messages, plural } from '../../texts/messages.ts'
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
  withSent,
  withValues,
} from './editor-state.ts'
import { checkInput, parseInput, toInput } from './input.ts'
import { type Definition, type Input, isSent, type SettingValue } from './setting.ts'
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
  /** Reads of values begun; the answers to those up to `lastRead` come too late. */
  let reads = 0
  let lastRead = 0
  let lastLoad = 0
  /** The last write; the next one waits for it. */
  let writes: Promise<void> = Promise.resolve()
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
    const read = ++reads
    lastLoad = read
    update({ ...state, phase: 'loading', failure: null })
    try {
      const [all, values] = await Promise.all([source.definitions(), source.values()])
      if (read !== lastLoad) return
      const definitions = all.filter(({ hidden }) => !hidden)
      update({ ...withRead({ ...state, definitions }, read, values), phase: 'ready' })
    } catch (error) {
      if (read === lastLoad) update({ ...state, phase: 'failed', failure: toFailure(error) })
    }
  }

  /** Loads what other users have saved meanwhile. A failure is ignored: the next action reports it. */
  async function refresh(): Promise<void> {
    if (state.phase !== 'ready' || state.saving.size > 0) return
    const read = ++reads
    try {
      const fresh = await source.values()
      update(withRead(state, read, fresh))
    } catch {
      // as said
    }
  }

  /** What was read; nothing of it where a later read, or a write since, knows better. */
  function withRead(before: EditorState, read: number, fresh: readonly SettingValue[]): EditorState {
    if (read <= lastRead) return before
    lastRead = read
    return withValues(before, fresh)
  }

  /** What is read meanwhile may be older than the answer. */
  async function send<T>(keys: readonly string[], request: () => Promise<T>): Promise<T> {
    update({ ...state, saving: new Set(keys) })
    lastRead = reads
    try {
      return await request()
    } finally {
      lastRead = reads
      update({ ...state, saving: noKeys })
    }
  }

  function edit(definition: Definition, input: Input): void {
    update({ ...withInput(state, definition, input), saved: noValues })
  }

  /** Looks at a draft when the user leaves its control; preferences are saved then, unless there is a question first. */
  function leave({ key, confirm }: Definition): void {
    if (source.isOwn && !confirm) void commit(key)
    else update(withErrors(state, errorsOf([key])))
  }

  /** Preferences are saved one after the other, in the order in which they were changed; those that could not be go along. */
  function commit(key: string): Promise<void> {
    const draft = state.drafts.get(key)
    // What was refused is not sent again by leaving it.
    if (!draft || draft.errors.length > 0) return writes
    return queue(() => {
      const wanted = [...state.drafts].filter(
        ([each, other]) => each === key || (isSent(other) && other.errors.length === 0),
      )
      return saveDrafts(wanted.map(([each]) => each))
    })
  }

  /** A write that throws (a host's function did) keeps no later one waiting. */
  function queue(write: () => Promise<void>): Promise<void> {
    writes = writes.then(write, write)
    return writes
  }

  function undo(key: string): void {
    const { theirs } = state.drafts.get(key) ?? {}
    const next = { ...withoutDraft(state, key), focus: { key } }
    update(theirs ? withSaved(next, theirs) : next)
  }

  function discard(): void {
    const { drafts, values } = state
    const keys = [...drafts.keys()]
    for (const key of keys) undo(key)
    const restore = (): void => {
      // With the values they are changes of, so that what was saved elsewhere meanwhile is a conflict.
      const base = [...values].filter(([key]) => drafts.has(key) && !state.drafts.has(key))
      update({
        ...state,
        drafts: new Map([...drafts, ...state.drafts]),
        values: new Map([...state.values, ...base]),
        focus: firstOf(keys),
      })
      void refresh()
    }
    const { messages, locale } = language()
    const text = plural(messages.discarded, drafts.size, locale)
    update({
      ...state,
      failure: null,
      focus: firstOf(keys),
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
    leave(definition)
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

  /** The first of them on the page, for the focus. */
  function firstOf(keys: readonly string[]): EditorState['focus'] {
    const first = state.definitions.find(({ key }) => keys.includes(key))
    return first ? { key: first.key } : null
  }

  /** Sends all drafts; those that mean nothing, and those in conflict, are shown instead, all at once. */
  function save(): Promise<void> {
    const keys = [...state.drafts.keys()]
    return queue(() => saveDrafts(keys))
  }

  async function saveDrafts(wanted: readonly string[]): Promise<void> {
    const keys = wanted.filter((key) => state.drafts.has(key))
    if (keys.length === 0) return
    const errors = errorsOf(keys)
    update({ ...state, failure: null })
    showErrors(errors)
    const ready = keys.filter((key) => !(key in errors))
    if (ready.length === 0 || (ready.length < keys.length && !source.isOwn)) return
    const before = state.values
    update(withSent(state, ready))
    await settle(await send(ready, () => source.save(toEntries(state, ready))), before)
  }

  /** The focus goes to the first of them; a preference that is being left keeps to itself. */
  function showErrors(errors: Readonly<Record<string, readonly string[]>>): void {
    const first = source.isOwn ? null : firstOf(Object.keys(errors).filter((key) => state.drafts.has(key)))
    update({ ...withErrors(state, errors), focus: first ? { ...first, isError: true } : state.focus })
  }

  async function settle({ saved, keys, error }: SaveOutcome, before: EditorState['values']): Promise<void> {
    for (const [index, key] of keys.entries()) {
      const value = saved[index]
      update(value ? withSaved(state, value, state.drafts.get(key)?.sent) : withoutDraft(state, key))
    }
    const undoable = pick(before, keys)
    if (keys.length > 0) {
      update({ ...state, saved: undoable, focus: firstOf(keys) })
      onSaved()
    }
    const isStale = error && (error.status === 409 || error.status === 412)
    if (isStale || saved.includes(undefined)) await refresh()
    const { messages, locale } = language()
    if (!error) {
      return announce(plural(messages.saved, keys.length, locale), {
        isQuiet: source.isOwn,
        undo: canUndo(keys) ? () => void putBack(undoable) : undefined,
      })
    }
    showErrors(error.errors)
    if (isStale) showConflicts(error)
    else if (error.status !== 422 || hasErrorsElsewhere(state, error)) fail(error)
  }

  function showConflicts(error: SettingsRequestError): void {
    const errors = errorsOf(state.drafts.keys())
    for (const key of error.locked) errors[key] = [language().messages.lockedHint]
    if (Object.keys(errors).length === 0) fail(error)
    else showErrors(errors)
  }

  /** Takes the stored value away, and what is entered with it. */
  function reset({ key, displayName: name }: Definition): Promise<void> {
    const { drafts } = state
    return queue(async () => {
      const value = state.values.get(key)
      if (!value) return
      try {
        const after = await send([key], () => source.reset(value))
        if (after) update(withSaved(state, after, drafts.get(key)?.input))
        else await refresh()
      } catch (error) {
        if (toFailure(error).status !== 412) return fail(error)
        await refresh()
        return announce(format(language().messages.changedMeanwhile, { name }))
      }
      update({ ...state, failure: null, saved: noValues, focus: { key } })
      onSaved()
      announce(format(language().messages.resetDone, { name }), { isQuiet: source.isOwn })
    })
  }

  /** Nobody knows what a secret was before. */
  function canUndo(keys: readonly string[]): boolean {
    return state.definitions.every(({ key, sensitive }) => !sensitive || !keys.includes(key))
  }

  /** Puts back what held before a save, all or nothing; what was entered since stays. */
  function putBack(before: EditorState['values']): Promise<void> {
    return queue(async () => {
      const entries = [...before.values()].flatMap(({ key, scope, value, isOverridden }) => {
        const now = state.values.get(key)
        return now ? [{ key, scope, value: isOverridden ? value : null, version: now.version }] : []
      })
      const keys = entries.map(({ key }) => key)
      const { saved, keys: done, error } = await send(keys, () => source.save(entries))
      for (const value of saved) if (value) update(withSaved(state, value))
      if (error && error.status !== 409 && error.status !== 412) return fail(error)
      if (error || saved.includes(undefined)) await refresh()
      const names = state.definitions.filter(({ key }) => keys.includes(key)).map((each) => each.displayName)
      const name = new Intl.ListFormat(language().locale).format(names)
      if (error) return announce(format(language().messages.changedMeanwhile, { name }))
      update({ ...state, failure: null, saved: noValues, focus: firstOf(done) })
      onSaved()
      announce(format(language().messages.undone, { name }), { isQuiet: source.isOwn })
    })
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
    undoSave: ({ key }: Definition) => putBack(pick(state.saved, [key])),
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

function pick(values: EditorState['values'], keys: readonly string[]): EditorState['values'] {
  return new Map([...values].filter(([key]) => keys.includes(key)))
}

/** A rule about several settings may name one that was not touched. */
function hasErrorsElsewhere({ drafts }: EditorState, { errors }: SettingsRequestError): boolean {
  const keys = Object.keys(errors)
  return keys.length === 0 || keys.some((key) => !drafts.has(key))
}
