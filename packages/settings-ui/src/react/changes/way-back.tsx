/** Takes a change set back, or, in the history of a setting, restores what it held once. */
import type { HistoryEntry, SettingChangeSet } from '@fastify-modular/settings/client'
import { SettingScope } from '@fastify-modular/settings/client'
import type { ReactNode } from 'react'
import { Button } from '../button.tsx'
import { format, plural } from '../../texts/messages.ts'
import { type Definition, displayTime, type SettingValue } from '../model/setting.ts'
import { useEditor, usePage } from '../page-context.ts'
import type { Changes } from './use-changes.ts'

interface WayBackProps {
  readonly change: SettingChangeSet
  readonly newest: ReadonlyMap<string, HistoryEntry>
  readonly source: Changes
  /** The history of this setting alone. */
  readonly ofOne: Definition | undefined
}

export function WayBack({ change, newest, source, ofOne }: WayBackProps): ReactNode {
  const { entries } = change
  // Of a set, one value that holds is enough: Undo says who has changed the others since.
  const isCurrent = useEditor(({ values }) =>
    entries.some((entry) => newest.get(entry.key) === entry && holds(entry, values.get(entry.key))),
  )
  const mayChange = useMayChangeAll(entries)
  if (!mayChange) return null
  if (ofOne) return <Restore change={change} source={source} definition={ofOne} isCurrent={isCurrent} />
  return isCurrent ? <Undo change={change} source={source} /> : null
}

/** A set is put back whole or not at all. */
function useMayChangeAll(entries: readonly HistoryEntry[]): boolean {
  const { canUpdate, isAdmin } = usePage()
  return useEditor(
    ({ values, isForbidden }) =>
      canUpdate &&
      !isForbidden &&
      entries.every(
        ({ key, scope, setSize }) =>
          values.get(key)?.locked === false &&
          (isAdmin || scope !== SettingScope.System) &&
          (isAdmin || setSize === entries.length),
      ),
  )
}

type UndoProps = Pick<WayBackProps, 'change' | 'source'>

/** One for the whole change set; it asks first where a secret comes back, or a change is to be confirmed. */
function Undo({ change, source }: UndoProps): ReactNode {
  const { editor, messages, locale, open } = usePage()
  const { revision, entries, at } = change
  const isAsked = useEditor(({ definitions }) =>
    definitions.some(
      ({ key, sensitive, confirm }) => (sensitive || confirm) && entries.some((entry) => entry.key === key),
    ),
  )
  return (
    <Button
      about={displayTime(at, locale)}
      look="quiet"
      onClick={({ currentTarget }) => {
        if (isAsked) return open({ kind: 'revert', revision })
        currentTarget.closest('li')?.focus() // the button goes with what it undoes
        void editor.revert(revision).finally(source.reload)
      }}
    >
      {messages.undo}
      {isAsked && '…'}
    </Button>
  )
}

interface RestoreProps extends UndoProps {
  readonly definition: Definition
  readonly isCurrent: boolean
}

function Restore({ change, source, definition, isCurrent }: RestoreProps): ReactNode {
  const { api, editor, messages, locale } = usePage()
  const { key, displayName: name } = definition
  const { revision, at, entries } = change
  const value = useEditor((state) => state.values.get(key))
  const scope = entries[0]?.scope ?? definition.scope

  async function restore(): Promise<void> {
    source.report('')
    try {
      // On the version that the page shows: a newer change is never overwritten in silence.
      const { version = 0 } = value ?? {}
      await api.restore(key, { scope, revision, undo: isCurrent }, { version })
      editor.undo(key)
      editor.changed()
      await editor.refresh() // the message stands over a row that has the value
      source.report(isCurrent ? plural(messages.undone, 1, locale) : format(messages.restored, { name }))
      source.reload()
    } catch (error) {
      source.fail(error)
      await editor.refresh()
    }
  }

  return (
    <span className="fm-back">
      {isCurrent && <span className="fm-pill is-good">{messages.now}</span>}
      <Button
        look="quiet"
        onClick={({ currentTarget }) => {
          currentTarget.closest('li')?.focus() // the button goes with what it undoes
          void restore()
        }}
      >
        {isCurrent ? messages.undo : messages.restore}
        <span className="fm-hidden">
          {' '}
          {name}, {displayTime(at, locale)}
        </span>
      </Button>
    </span>
  )
}

/** Whether a value is as an entry left it. */
function holds({ isOverridden, revision }: HistoryEntry, value: SettingValue | undefined): boolean {
  if (!value) return false
  return isOverridden ? value.version === revision : !value.isOverridden
}
