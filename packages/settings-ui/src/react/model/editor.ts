/** The life of a settings page: loads, keeps drafts, saves, and lets nothing that was entered get lost. */
import type { SettingsRequestError } from '@fastify-modular/settings/client'
import { format, type Messages, plural } from '../messages.ts'
import {
  type EditorState,
  initialState,
  withDraft,
  withErrors,
  withInput,
  withoutDraft,
  withSaved,
  withValues,
} from './editor-state.ts'
import { checkInput, describe, parseInput, toInput } from './input.ts'
import type { Definition, Input } from './setting.ts'
import { type Entry, type SaveOutcome, type SettingsSource, toFailure } from './source.ts'

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
  const listeners = new Set<() => void>()

  function update(next: EditorState): void {
    if (next === state) return
    state = next
    for (const listener of listeners) listener()
  }

  function announce(text: string): void {
    update({ ...state, announcement: { text } })
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
    if (state.phase !== 'ready' || state.saving) return
    const before = writes
    try {
      const fresh = await source.values()
      if (writes === before) update(withValues(state, fresh))
    } catch {
      // as said
    }
  }

  function edit(definition: Definition, input: Input): void {
    update(withInput(state, definition, input))
  }

  /** Looks at a draft when the user leaves its control. */
  function check(definition: Definition): void {
    const { key } = definition
    const draft = state.drafts.get(key)
    const value = state.values.get(key)
    if (!draft || !value || draft.errors.length > 0) return
    const error = checkInput(definition, draft.input, value.value, language().messages)
    if (error) update(withDraft(state, key, { ...draft, errors: [error] }))
  }

  function undo(key: string): void {
    const { theirs } = state.drafts.get(key) ?? {}
    const next = withoutDraft(state, key)
    update(theirs ? withSaved(next, theirs) : next)
  }

  function discard(): void {
    for (const key of state.drafts.keys()) undo(key)
    update({ ...state, failure: null, summary: null, announcement: { text: language().messages.discarded } })
  }

  /** Lets the user's value replace the one that another user has saved. */
  function keepMine(key: string): void {
    const draft = state.drafts.get(key)
    const definition = state.definitions.find((each) => each.key === key)
    if (!draft?.theirs || !definition) return
    const values = new Map(state.values).set(key, draft.theirs)
    const isEqual = draft.input === toInput(definition, draft.theirs.value) && !definition.sensitive
    const next = { ...state, values }
    update(isEqual ? withoutDraft(next, key) : withDraft(next, key, { input: draft.input, errors: [] }))
  }

  /** Sends all drafts; those that mean nothing, and those in conflict, are shown instead. */
  async function save(): Promise<void> {
    if (state.saving || state.drafts.size === 0) return
    const { entries, errors } = toEntries(state, language().messages)
    if (Object.keys(errors).length > 0) return update(withErrors(state, errors))
    const sent = new Map([...state.drafts].map(([key, { input }]) => [key, input]))
    update({ ...state, saving: true, failure: null, summary: null, announcement: { text: '' } })
    writes++
    const outcome = await source.save(entries)
    writes++
    update({ ...state, saving: false })
    await settle(outcome, sent)
  }

  async function settle(
    { saved, keys, error }: SaveOutcome,
    sent: ReadonlyMap<string, Input>,
  ): Promise<void> {
    for (const [index, key] of keys.entries()) {
      const value = saved[index]
      update(value ? withSaved(state, value, sent.get(key)) : withoutDraft(state, key))
    }
    if (keys.length > 0) onSaved()
    const isStale = error && (error.status === 409 || error.status === 412)
    if (isStale || saved.includes(undefined)) await refresh()
    const { messages, locale } = language()
    if (!error) return announce(plural(messages.saved, keys.length, locale))
    update(withErrors(state, error.errors))
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
    if (texts.length > 0) update(withErrors(state, Object.fromEntries(texts)))
    else fail(error)
  }

  /** Takes the stored value away. */
  async function reset(definition: Definition): Promise<void> {
    const value = state.values.get(definition.key)
    if (!value) return
    try {
      writes++
      const after = await source.reset(value)
      writes++
      update({ ...state, failure: null })
      if (after) update(withSaved(state, after))
      else await refresh()
      onSaved()
      announce(format(language().messages.resetDone, { name: definition.displayName }))
    } catch (error) {
      if (toFailure(error).status === 412) {
        await refresh()
        announce(format(language().messages.changedMeanwhile, { name: definition.displayName }))
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
    check,
    undo,
    discard,
    keepMine,
    save,
    reset,
    announce,
    dismiss: () => update({ ...state, failure: null }),
    changed: onSaved,
  }
}

interface Entries {
  readonly entries: readonly Entry[]
  /** By key: drafts that mean nothing, and those in conflict. */
  readonly errors: Readonly<Record<string, readonly string[]>>
}

function toEntries({ definitions, drafts, values }: EditorState, messages: Messages): Entries {
  const errors: Record<string, readonly string[]> = {}
  const entries: Entry[] = []
  for (const [key, { input, theirs }] of drafts) {
    const definition = definitions.find((each) => each.key === key)
    const value = values.get(key)
    if (!definition || !value) continue
    const parsed = parseInput(definition, input, value.value)
    if (theirs) errors[key] = [messages.decideFirst]
    else if ('problem' in parsed) errors[key] = [describe(parsed.problem, messages)]
    else entries.push({ key, scope: value.scope, value: parsed.value, version: value.version })
  }
  return { entries, errors }
}

/** A rule about several settings may name one that was not touched. */
function hasErrorsElsewhere({ drafts }: EditorState, { errors }: SettingsRequestError): boolean {
  const keys = Object.keys(errors)
  return keys.length === 0 || keys.some((key) => !drafts.has(key))
}
