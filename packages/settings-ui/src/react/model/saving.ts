/** What a page writes, one after the other, and what it says about it. */
import type { SettingsRequestError } from '@fastify-modular/settings/client'
import { format, type Messages, plural } from '../../texts/messages.ts'
import {
  definitionOf,
  type EditorState,
  firstOf,
  hasErrorsElsewhere,
  initialState,
  type Message,
  withErrors,
  withoutDraft,
  withSaved,
  withSent,
} from './editor-state.ts'
import type { EditorStore } from './editor-store.ts'
import { failureText } from './failure-text.ts'
import { checkInput, parseInput } from './input.ts'
import type { Reading } from './reading.ts'
import { type Definition, isSent, type SettingValue } from './setting.ts'
import { type Entry, type SaveOutcome, type SettingsSource, toFailure, type Versions } from './source.ts'

/** The texts of the editor and their language. */
export interface Language {
  readonly messages: Messages
  readonly locale: string
}

interface SavingInit {
  readonly store: EditorStore
  readonly reading: Reading
  readonly source: SettingsSource
  readonly language: () => Language
  readonly onSaved: () => void
}

export class Saving {
  readonly #init: SavingInit
  /** The last write; the next one waits for it. */
  #writes: Promise<void> = Promise.resolve()

  constructor(init: SavingInit) {
    this.#init = init
  }

  get #state(): EditorState {
    return this.#init.store.getState()
  }

  #update(part: Partial<EditorState>): void {
    this.#init.store.update(part)
  }

  /** Shows a message in the bar and has it read out. On the preferences page the rows show what became of a save. */
  say(message: Message): void {
    const { text, hint = '' } = message
    const isShown = !this.#init.source.isOwn || message.undo !== undefined || message.kind === 'bad'
    this.#update({ message: isShown ? message : null, announcement: { text: `${text} ${hint}`.trim() } })
  }

  #fail(error: unknown): void {
    const failure = toFailure(error)
    this.#update({
      failure,
      isForbidden: this.#state.isForbidden || failure.status === 403,
      announcement: { text: failureText(failure, this.#init.language().messages) },
    })
  }

  /** A write that throws (a host's function did) keeps no later one waiting. */
  #queue(write: () => Promise<void>): Promise<void> {
    this.#writes = this.#writes.then(write, write)
    return this.#writes
  }

  /** Sends all drafts; those that mean nothing, and those in conflict, are shown instead, all at once. */
  save(): Promise<void> {
    const keys = [...this.#state.drafts.keys()]
    return this.#queue(() => this.#saveDrafts(keys))
  }

  /** Preferences are saved one after the other, in the order in which they were changed; those that could not be go along. */
  commit(key: string): Promise<void> {
    const draft = this.#state.drafts.get(key)
    // What was refused is not sent again by leaving it.
    if (!draft || draft.errors.length > 0) return this.#writes
    return this.#queue(() => {
      const wanted = [...this.#state.drafts].filter(
        ([each, other]) => each === key || (isSent(other) && other.errors.length === 0),
      )
      return this.#saveDrafts(wanted.map(([each]) => each))
    })
  }

  async #saveDrafts(wanted: readonly string[]): Promise<void> {
    const { reading, source } = this.#init
    const keys = wanted.filter((key) => this.#state.drafts.has(key))
    if (keys.length === 0) return
    const errors = this.errorsOf(keys)
    this.#update({ failure: null, message: null })
    this.#showErrors(errors)
    const ready = keys.filter((key) => !(key in errors))
    if (ready.length === 0 || (ready.length < keys.length && !source.isOwn)) return
    const before = this.#state.values
    this.#update(withSent(this.#state, ready))
    const outcome = await reading.write(ready, () => source.save(toEntries(this.#state, ready)))
    await this.#settle(outcome, before)
  }

  async #settle({ saved, keys, error }: SaveOutcome, before: EditorState['values']): Promise<void> {
    const { reading, onSaved } = this.#init
    for (const [index, key] of keys.entries()) {
      const value = saved[index]
      const sent = this.#state.drafts.get(key)?.sent
      this.#update(value ? withSaved(this.#state, value, sent) : withoutDraft(this.#state, key))
    }
    if (keys.length > 0) {
      this.#update({ saved: pick(before, keys), focus: firstOf(this.#state, keys) })
      onSaved()
    }
    const isStale = error && (error.status === 409 || error.status === 412)
    if (isStale || saved.includes(undefined)) await reading.refresh()
    if (!error) return this.#saySaved(keys, saved)
    this.#showErrors(error.errors)
    this.know(error.people)
    if (isStale) this.#showConflicts(error)
    else if (error.status !== 422 || hasErrorsElsewhere(this.#state, error)) this.#fail(error)
  }

  #saySaved(keys: readonly string[], saved: SaveOutcome['saved']): void {
    const { messages, locale } = this.#init.language()
    this.say({
      kind: 'done',
      text: plural(messages.saved, keys.length, locale),
      ...this.#undoOf(keys, saved),
    })
  }

  /** The way back from a write of shared values: one change set for all; none where nothing changed. */
  #undoOf(keys: readonly string[], saved: SaveOutcome['saved']): Pick<Message, 'undo' | 'asks'> {
    const revision = saved.find((value) => value?.revision)?.revision
    if (!this.#init.source.revert || !revision) return {}
    const hasSecret = this.#state.definitions.some(({ key, sensitive }) => sensitive && keys.includes(key))
    return hasSecret ? { asks: revision } : { undo: () => void this.revert(revision) }
  }

  /** The focus goes to the first of them; a preference that is being left keeps to itself. */
  #showErrors(errors: Readonly<Record<string, readonly string[]>>): void {
    const keys = Object.keys(errors).filter((key) => this.#state.drafts.has(key))
    const first = this.#init.source.isOwn ? null : firstOf(this.#state, keys)
    const focus = first ? { ...first, isError: true } : this.#state.focus
    this.#update({ ...withErrors(this.#state, errors), focus })
  }

  #showConflicts(error: SettingsRequestError): void {
    const errors = this.errorsOf(this.#state.drafts.keys())
    for (const key of error.locked) errors[key] = [this.#init.language().messages.lockedHint]
    if (Object.keys(errors).length === 0) this.#fail(error)
    else this.#showErrors(errors)
  }

  /** What is wrong with these drafts, as far as the page can see. */
  errorsOf(keys: Iterable<string>): Record<string, readonly string[]> {
    const { messages } = this.#init.language()
    const { drafts, definitions, values } = this.#state
    const errors: Record<string, readonly string[]> = {}
    for (const key of keys) {
      const draft = drafts.get(key)
      const definition = definitions.find((each) => each.key === key)
      const value = values.get(key)
      if (!draft || !definition || !value) continue
      const error = draft.theirs
        ? messages.decideFirst
        : checkInput(definition, draft.input, value.value, messages)
      if (error) errors[key] = [error]
    }
    return errors
  }

  /** Takes the stored value away, and what is entered with it. */
  reset({ key, displayName: name }: Definition): Promise<void> {
    const { source, language } = this.#init
    return this.#replace(key, source.reset, () => format(language().messages.resetDone, { name }))
  }

  /** Puts back what held of a preference before it was saved. */
  putBack(key: string): Promise<void> {
    const { source, language } = this.#init
    const { isOverridden, value } = this.#state.saved.get(key) ?? {}
    const put = async (now: SettingValue): Promise<SettingValue | undefined> =>
      source.put?.({ ...now, value: isOverridden && value !== undefined ? value : null })
    return this.#replace(key, put, () => plural(language().messages.undone, 1, language().locale))
  }

  /** Writes one value on the version that the page shows; where there is a newer one, it is shown instead. */
  #replace(
    key: string,
    write: (value: SettingValue) => Promise<SettingValue | undefined>,
    done: () => string,
  ): Promise<void> {
    const { reading, language, onSaved } = this.#init
    const { drafts } = this.#state
    return this.#queue(async () => {
      const value = this.#state.values.get(key)
      if (!value) return
      let after: SettingValue | undefined
      try {
        after = await reading.write([key], () => write(value))
        if (after) this.#update(withSaved(this.#state, after, drafts.get(key)?.input))
        else await reading.refresh()
      } catch (error) {
        if (![409, 412].includes(toFailure(error).status)) return this.#fail(error)
        await reading.refresh()
        const text = format(language().messages.changedMeanwhile, { name: this.#nameOf(key) })
        return this.say({ kind: 'bad', text })
      }
      this.#update({ failure: null, saved: initialState.saved, focus: { key } })
      onSaved()
      this.say({ kind: 'undone', text: done(), ...this.#undoOf([key], [after]) })
    })
  }

  /** Puts back what a change set replaced, all or nothing; what somebody has changed since only if the versions are those of `force`. */
  revert(revision: number, force: Versions = {}): Promise<void> {
    const { reading, source, language, onSaved } = this.#init
    return this.#queue(async () => {
      const { messages, locale } = language()
      const { message } = this.#state
      this.#update({ failure: null, message: null })
      try {
        const count = await reading.write([], async () => (await source.revert?.(revision, force)) ?? 0)
        await reading.refresh()
        onSaved()
        this.say({ kind: 'undone', text: plural(messages.undone, count, locale) })
      } catch (error) {
        const failure = toFailure(error)
        await reading.refresh()
        if (failure.conflicts.length > 0) this.#sayConflict(failure, revision, force)
        else if (failure.status === 401) {
          // After signing in it can be pressed again.
          this.#update({ message })
          this.#fail(failure)
        } else this.say({ kind: 'bad', text: failureText(failure, messages, this.#nameOf) })
      }
    })
  }

  readonly #nameOf = (key: string): string => definitionOf(this.#state, key)?.displayName ?? key

  /** Somebody has changed since what a revert would put back. */
  #sayConflict({ conflicts, people }: SettingsRequestError, revision: number, force: Versions): void {
    const { messages, locale } = this.#init.language()
    const list = new Intl.ListFormat(locale)
    const who = [
      ...new Set(conflicts.map(({ updatedBy }) => people[updatedBy ?? ''] ?? updatedBy ?? messages.somebody)),
    ]
    this.know(people)
    this.say({
      kind: 'warn',
      text: format(messages.changedSince, {
        who: list.format(who),
        name: list.format(conflicts.map(({ key }) => this.#nameOf(key))),
      }),
      hint: messages.undoTakesBack,
      // Only over what is named here: of anything newer it is said again.
      anyway: () =>
        void this.revert(revision, {
          ...force,
          ...Object.fromEntries(conflicts.map(({ key, version }) => [key, version])),
        }),
    })
  }

  /** Keeps names that came with an answer. */
  know(people: Readonly<Record<string, string>>): void {
    const entries = Object.entries(people)
    if (entries.length > 0) this.#update({ people: new Map([...this.#state.people, ...entries]) })
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
