/** The life of a settings page: loads, keeps drafts, saves, and lets nothing that was entered get lost. */
import { plural } from '../../texts/messages.ts'
import { toInput } from './input.ts'
import {
  firstOf,
  initialState,
  type Message,
  withDraft,
  withErrors,
  withInput,
  withoutDraft,
  withSaved,
} from './editor-state.ts'
import { EditorStore } from './editor-store.ts'
import { Reading } from './reading.ts'
import { type Language, Saving } from './saving.ts'
import type { Definition, Input } from './setting.ts'
import type { SettingsSource } from './source.ts'

export type SettingsEditor = ReturnType<typeof createEditor>

/**
 * @param language returns the language of the moment: it may change without any loss
 * @param onSaved is called after each change made from here, so that other tabs can be notified
 */
export function createEditor(source: SettingsSource, language: () => Language, onSaved: () => void) {
  const store = new EditorStore()
  const reading = new Reading(store, source)
  const saving = new Saving({ store, reading, source, language, onSaved })
  const { getState, subscribe } = store

  /** Looks at a draft when the user leaves its control; preferences are saved then, unless there is a question first. */
  function leave({ key, confirm }: Definition): void {
    if (source.isOwn && !confirm) void saving.commit(key)
    else store.update(withErrors(getState(), saving.errorsOf([key])))
  }

  /** Takes a draft back; where somebody has saved another value meanwhile, that one is shown. */
  function undo(key: string): void {
    const { theirs } = getState().drafts.get(key) ?? {}
    const next = { ...withoutDraft(getState(), key), focus: { key } }
    store.update(theirs ? withSaved(next, theirs) : next)
  }

  function discard(): void {
    const { drafts, values } = getState()
    const keys = [...drafts.keys()]
    for (const key of keys) undo(key)
    const { messages, locale } = language()
    store.update({ failure: null, focus: firstOf(getState(), keys) })
    saving.say({
      kind: 'undone',
      text: plural(messages.discarded, drafts.size, locale),
      undo() {
        const now = getState()
        // With the values they are changes of, so that what was saved elsewhere meanwhile is a conflict.
        const base = [...values].filter(([key]) => drafts.has(key) && !now.drafts.has(key))
        store.update({
          drafts: new Map([...drafts, ...now.drafts]),
          values: new Map([...now.values, ...base]),
          message: null,
          focus: firstOf(now, keys),
        })
        void reading.refresh()
      },
    })
  }

  /** Lets the user's value replace the one that another user has saved. */
  function keepMine(key: string): void {
    const { drafts, definitions, values } = getState()
    const draft = drafts.get(key)
    const definition = definitions.find((each) => each.key === key)
    if (!draft?.theirs || !definition) return
    const isEqual = draft.input === toInput(definition, draft.theirs.value) && !definition.sensitive
    const next = { ...getState(), values: new Map(values).set(key, draft.theirs), focus: { key } }
    store.update(isEqual ? withoutDraft(next, key) : withDraft(next, key, { input: draft.input, errors: [] }))
    leave(definition)
  }

  return {
    isOwn: source.isOwn,
    getState,
    subscribe,
    load: () => reading.load(),
    refresh: () => reading.refresh(),
    edit(definition: Definition, input: Input) {
      const { saved, message } = initialState
      store.update({ ...withInput(getState(), definition, input), saved, message })
    },
    leave,
    commit: (key: string) => saving.commit(key),
    undo,
    discard,
    keepMine,
    save: () => saving.save(),
    reset: (definition: Definition) => saving.reset(definition),
    undoSave: ({ key }: Definition) => saving.putBack(key),
    revert: (revision: number) => saving.revert(revision),
    know: (people: Readonly<Record<string, string>>) => saving.know(people),
    say: (message: Message) => saving.say(message),
    /** Takes away what the bar says: first the failure, then the message that it covers. */
    dismiss: () => store.update(getState().failure ? { failure: null } : { message: null }),
    changed: onSaved,
  }
}
