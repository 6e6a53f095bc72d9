/** The life of a settings page: keeps drafts, saves them one after the other, says what became of them, and lets nothing that was entered get lost. */
import type { SettingsRequestError } from '@fastify-modular/settings/client'
import { format, type Messages, plural } from '../../texts/messages.ts'
import {
  type EditorState,
  errorsOfDrafts,
  firstOf,
  initialState,
  type Message,
  needsConfirmation,
  readDrafts,
  withDraft,
  withErrors,
  withInput,
  withoutDraft,
  withSaved,
  withSent,
} from './editor-state.ts'
import { EditorStore } from './editor-store.ts'
import { toInput } from './input.ts'
import { type Definition, type Input, isSent, type SettingValue } from './setting.ts'
import {
  failureText,
  type SaveOutcome,
  type SettingsSource,
  toFailure,
  type Versions,
  versionsOf,
} from './source.ts'

/** The texts of the editor and their language. */
interface Language {
  readonly messages: Messages
  readonly locale: string
}

/** Where the focus goes when it was on no setting: no setting has this key. */
const onPage = (): EditorState['focus'] => ({ key: '' })

export class SettingsEditor extends EditorStore {
  readonly #language: () => Language
  /** Called after each change made from here, with the keys of the drafts that it has saved. */
  readonly changed: (saved: readonly string[]) => void
  /** Whose names were read, or are being read. */
  readonly #named = new Set<string>()
  /** The last write; the next one waits for it. */
  #writes: Promise<void> = Promise.resolve()

  /** @param language returns the language of the moment: it may change without any loss */
  constructor(source: SettingsSource, language: () => Language, onSaved: SettingsEditor['changed']) {
    super(source)
    this.#language = language
    this.changed = onSaved
  }

  get isOwn(): boolean {
    return this.source.isOwn
  }

  get isShared(): boolean {
    return this.source.isShared
  }

  /** The name of a setting, also of one that pages do not list. */
  readonly nameOf = (key: string): string => this.state.byKey.get(key)?.displayName ?? key

  /** Why an action failed, in words. */
  explain(error: unknown): string {
    return failureText(toFailure(error), this.#language().messages, this.nameOf)
  }

  edit(definition: Definition, input: Input): void {
    const { saved, message } = initialState
    const state = { ...this.state, errors: errorsOfDrafts(this.state) }
    this.update({ ...withInput(state, definition, input), saved, message })
  }

  /** Enters values as the user would type them, and saves nothing. What is not shown or locked is left out. */
  enter(inputs: Readonly<Record<string, Input>>): void {
    for (const [key, input] of Object.entries(inputs)) {
      const definition = this.state.byKey.get(key)
      if (definition && this.state.values.get(key)?.locked === false) this.edit(definition, input)
    }
    this.update(withErrors(this.state, this.#errorsOf(Object.keys(inputs))))
  }

  /** Looks at a draft when the user leaves its control; preferences are saved then, unless there is a question first. */
  leave({ key, confirm }: Definition): void {
    if (this.isOwn && !confirm) void this.commit(key)
    else this.update(withErrors(this.state, this.#errorsOf([key])))
  }

  /** Takes a draft back; where somebody has saved another value meanwhile, that one is shown. */
  undo(key: string): void {
    const { theirs } = this.state.drafts.get(key) ?? {}
    const next = { ...withoutDraft(this.state, key), saved: initialState.saved, focus: { key } }
    this.update(theirs ? withSaved(next, theirs) : next)
  }

  readonly discard = (): void => {
    const { drafts, values, errors } = this.state
    const keys = [...drafts.keys()]
    for (const key of keys) this.undo(key)
    const { messages, locale } = this.#language()
    this.update({ failure: null, errors: initialState.errors, focus: firstOf(this.state, keys) })
    this.say({
      kind: 'undone',
      text: plural(messages.discarded, drafts.size, locale),
      undo: () => {
        const now = this.state
        // With the values they are changes of, so that what was saved elsewhere meanwhile is a conflict.
        const base = [...values].filter(([key]) => drafts.has(key) && !now.drafts.has(key))
        this.update({
          drafts: new Map([...drafts, ...now.drafts]),
          errors: new Map([...errors, ...now.errors]),
          values: new Map([...now.values, ...base]),
          message: null,
          focus: firstOf(now, keys),
        })
        void this.refresh()
      },
    })
  }

  /** Lets the user's value replace the one that another user has saved. */
  keepMine(definition: Definition): void {
    const { key, sensitive } = definition
    const { drafts, values } = this.state
    const { theirs, input } = drafts.get(key) ?? {}
    if (!theirs || input === undefined) return
    const isEqual = input === toInput(definition, theirs.value) && !sensitive
    const next = { ...this.state, values: new Map(values).set(key, theirs), focus: { key } }
    this.update(isEqual ? withoutDraft(next, key) : withDraft(next, key, { input }))
    this.leave(definition)
  }

  /** Shows a message in the bar and has it read out. On the preferences page the rows show what became of a save. */
  say(message: Message): void {
    const { text, hint = '' } = message
    const isShown = !this.isOwn || message.undo !== undefined || message.kind === 'bad'
    this.update({ message: isShown ? message : null, announcement: { text: `${text} ${hint}`.trim() } })
  }

  /** Browsers have no clipboard outside of a secure context, and may refuse to write to it: then nothing is said. */
  async copy(text: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text)
    } catch {
      return
    }
    this.say({ kind: 'done', text: this.#language().messages.copied })
  }

  /** The server answers again: what could not be sent because it did not can be sent now. */
  comeBack(): void {
    const { backOnline: text } = this.#language().messages
    if (this.state.failure?.status !== 0) return this.announce(text)
    this.update({ failure: null })
    this.say({ kind: 'done', text })
  }

  /** What was said of one group is not said over another. */
  dismissMessage(): void {
    this.update({ message: null })
  }

  /** Takes away what the bar says: first the failure, then the message that it covers. */
  readonly dismiss = (): void =>
    this.update({ ...(this.state.failure ? { failure: null } : { message: null }), focus: onPage() })

  #fail(error: unknown): void {
    const failure = toFailure(error)
    this.update({
      failure,
      isForbidden: this.state.isForbidden || failure.status === 403,
      announcement: { text: this.explain(failure) },
    })
  }

  /** A write that throws (a host's function did) keeps no later one waiting. */
  #queue(write: () => Promise<void>): Promise<void> {
    this.#writes = this.#writes.then(write, write)
    return this.#writes
  }

  /** Saves what is unsaved; first shows it, where a change is to be confirmed. */
  readonly submit = (): void => {
    if (needsConfirmation(this.state)) this.open({ kind: 'review' })
    else void this.save()
  }

  /**
   * Sends all drafts; those that mean nothing, and those in conflict, are shown instead, all at once.
   * @param within seconds until they are put back unless they are kept
   */
  save(within?: number): Promise<void> {
    const keys = [...this.state.drafts.keys()]
    return this.#queue(() => this.#saveDrafts(keys, within))
  }

  /** Preferences are saved one after the other, in the order in which they were changed; those that could not be go along. */
  commit(key: string): Promise<void> {
    const { drafts, errors } = this.state
    // What was refused is not sent again by leaving it.
    if (!drafts.has(key) || errors.has(key)) return this.#writes
    return this.#queue(() => {
      const wanted = [...this.state.drafts].filter(
        ([each, other]) => each === key || (isSent(other) && !this.state.errors.has(each)),
      )
      return this.#saveDrafts(wanted.map(([each]) => each))
    })
  }

  async #saveDrafts(wanted: readonly string[], within?: number): Promise<void> {
    const keys = wanted.filter((key) => this.state.drafts.has(key))
    if (keys.length === 0 || this.state.phase === 'elsewhere') return
    const { entries, errors } = readDrafts(this.state, keys, this.#language().messages)
    this.update({ failure: null, message: null, errors: errorsOfDrafts(this.state) })
    this.#showErrors(errors)
    if (entries.length === 0 || (entries.length < keys.length && !this.isOwn)) return
    const before = this.state.values
    const sent = entries.map(({ key }) => key)
    this.update(withSent(this.state, sent))
    const outcome = await this.write(sent, () => this.source.save(entries, within))
    await this.#settle(outcome, before, within !== undefined)
    if (within !== undefined) await this.readOpen()
  }

  async #settle(
    { saved, keys, error }: SaveOutcome,
    before: EditorState['values'],
    isOpen: boolean,
  ): Promise<void> {
    if (this.state.phase === 'elsewhere') return
    for (const [index, key] of keys.entries()) {
      const value = saved[index]
      const sent = this.state.drafts.get(key)?.sent
      this.update(value ? withSaved(this.state, value, sent) : withoutDraft(this.state, key))
    }
    if (keys.length > 0) {
      const held = new Map([...before].filter(([key]) => keys.includes(key)))
      this.update({ saved: held, focus: firstOf(this.state, keys) })
      this.changed(keys.filter((key) => !this.state.drafts.has(key)))
    }
    const isStale = error && (error.status === 409 || error.status === 412)
    if (isStale || saved.includes(undefined)) await this.refresh()
    if (!error) {
      const { messages, locale } = this.#language()
      const text = plural(messages.saved, keys.length, locale)
      const revision = saved.find((value) => value?.revision)?.revision
      return this.say({ kind: 'done', text, ...(!isOpen && this.undoOf(keys, revision)) })
    }
    this.#showErrors(error.errors)
    this.know(error.people)
    const wrong = Object.keys(error.errors)
    // A rule about several settings may name one without a draft, or none.
    const isShown =
      error.status === 422 && wrong.length > 0 && wrong.every((key) => this.state.drafts.has(key))
    if (isStale) this.#showConflicts(error)
    else if (!isShown) this.#fail(error)
  }

  /** The way back from a write of shared values: one change set for all; none where nothing changed. */
  undoOf(keys: readonly string[], revision: number | null = null): Pick<Message, 'undo' | 'asks'> {
    if (!this.source.revert || !revision) return {}
    const hasSecret = keys.some((key) => this.state.byKey.get(key)?.sensitive)
    return hasSecret ? { asks: revision } : { undo: () => void this.revert(revision) }
  }

  /** The focus goes to the first of them; a preference that is being left keeps to itself. */
  #showErrors(errors: Readonly<Record<string, readonly string[]>>): void {
    const wrong = Object.entries(errors).filter(([key]) => this.state.drafts.has(key))
    const keys = wrong.map(([key]) => key)
    const first = this.isOwn ? null : firstOf(this.state, keys)
    const focus = first ? { ...first, isSought: true } : this.state.focus
    this.update({ ...withErrors(this.state, Object.fromEntries(wrong)), focus })
  }

  #showConflicts(error: SettingsRequestError): void {
    const errors = this.#errorsOf(this.state.drafts.keys())
    for (const key of error.locked) errors[key] = [this.#language().messages.lockedHint]
    if (Object.keys(errors).length === 0) this.#fail(error)
    else this.#showErrors(errors)
  }

  #errorsOf(keys: Iterable<string>): Record<string, readonly string[]> {
    return readDrafts(this.state, keys, this.#language().messages).errors
  }

  /** Takes the stored value away, and what is entered with it. */
  reset({ key, displayName: name }: Definition): Promise<void> {
    return this.#replace(key, this.source.reset, ({ messages }) => format(messages.resetDone, { name }))
  }

  /** Puts back what held of a preference before it was saved. */
  undoSave({ key }: Definition): Promise<void> {
    const { isOverridden, value } = this.state.saved.get(key) ?? {}
    const put = async (now: SettingValue): Promise<SettingValue | undefined> =>
      this.source.put?.({ ...now, value: isOverridden && value !== undefined ? value : null })
    return this.#replace(key, put, ({ messages, locale }) => plural(messages.undone, 1, locale))
  }

  /** Writes one value on the version that the page shows; where there is a newer one, it is shown instead. */
  #replace(
    key: string,
    write: (value: SettingValue) => Promise<SettingValue | undefined>,
    done: (language: Language) => string,
  ): Promise<void> {
    const { drafts } = this.state
    return this.#queue(async () => {
      const value = this.state.values.get(key)
      if (!value) return
      let after: SettingValue | undefined
      try {
        after = await this.write([key], () => write(value))
        if (after) this.update(withSaved(this.state, after, drafts.get(key)?.input))
        else await this.refresh()
      } catch (error) {
        if (this.state.phase === 'elsewhere') return
        if (![409, 412].includes(toFailure(error).status)) return this.#fail(error)
        await this.refresh()
        const text = format(this.#language().messages.changedMeanwhile, { name: this.nameOf(key) })
        return this.say({ kind: 'bad', text })
      }
      this.update({ failure: null, saved: initialState.saved, focus: { key } })
      this.changed([])
      this.say({ kind: 'undone', text: done(this.#language()), ...this.undoOf([key], after?.revision) })
    })
  }

  /** Puts back what a change set replaced, all or nothing; what somebody has changed since only if the versions are those of `force`. */
  revert(revision: number, force: Versions = {}): Promise<void> {
    return this.#queue(async () => {
      const { messages, locale } = this.#language()
      const { message, values: before } = this.state
      this.update({ failure: null })
      this.say({ kind: 'undone', text: messages.undoing })
      try {
        const count = await this.write([], async () => (await this.source.revert?.(revision, force)) ?? 0)
        await this.refresh()
        this.changed([])
        this.say({ kind: 'undone', text: plural(messages.undone, count, locale) })
        const isBack = ([key, value]: [string, SettingValue]) => before.get(key)?.version !== value.version
        const keys = [...this.state.values].filter(isBack).map(([key]) => key)
        this.update({ focus: firstOf(this.state, keys) ?? onPage() })
      } catch (error) {
        const failure = toFailure(error)
        await this.refresh()
        if (failure.conflicts.length > 0) this.#sayConflict(failure, revision, force)
        else if (failure.status === 401) {
          // After signing in it can be pressed again.
          this.update({ message })
          this.#fail(failure)
        } else this.say({ kind: 'bad', text: this.explain(failure) })
        this.update({ focus: onPage() })
      }
    })
  }

  /** Somebody has changed since what a revert would put back. */
  #sayConflict(failure: SettingsRequestError, revision: number, force: Versions): void {
    const { conflicts, people } = failure
    const { messages, locale } = this.#language()
    const list = new Intl.ListFormat(locale)
    const who = conflicts.map(({ updatedBy: id }) => people[id ?? ''] ?? id ?? messages.somebody)
    this.know(people)
    this.say({
      kind: 'warn',
      text: format(messages.changedSince, {
        who: list.format(new Set(who)),
        name: list.format(conflicts.map(({ key }) => this.nameOf(key))),
      }),
      hint: messages.undoTakesBack,
      // Only over what is named here: of anything newer it is said again.
      anyway: () => void this.revert(revision, { ...force, ...versionsOf(failure) }),
    })
  }

  /** Reads names that no answer has brought: once for all that show them, again where they could not be read. */
  async learnNames(
    ids: readonly string[],
    read: () => Promise<{ readonly people?: Readonly<Record<string, string>> }>,
  ): Promise<void> {
    const unknown = ids.filter((id) => !this.state.people.has(id) && !this.#named.has(id))
    if (unknown.length === 0) return
    for (const id of unknown) this.#named.add(id)
    try {
      this.know((await read()).people ?? {})
    } catch {
      for (const id of unknown) this.#named.delete(id)
    }
  }

  /** Keeps names that came with an answer. */
  know(people: Readonly<Record<string, string>>): void {
    const entries = Object.entries(people)
    if (entries.length > 0) this.update({ people: new Map([...this.state.people, ...entries]) })
  }
}
