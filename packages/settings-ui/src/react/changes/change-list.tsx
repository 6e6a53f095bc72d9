/** Who changed what, from which value to which, when, and the way back. */
import type { HistoryEntry, ListedHistoryEntry, SettingChangeSet } from '@fastify-modular/settings/client'
import { Fragment, type ReactNode, useState } from 'react'
import { Diff, type Side } from '../diff/diff.tsx'
import { format, plural } from '../../texts/messages.ts'
import { relativeTime } from '../model/input.ts'
import { initialsOf } from '../model/initials.ts'
import {
  type Definition,
  displayTime,
  type JsonValue,
  type SettingValue,
  toDefault,
} from '../model/setting.ts'
import { useEditor, useMayChange, usePage } from '../page-context.ts'
import type { Changes } from './use-changes.ts'

interface ChangeListProps {
  readonly source: Changes
  /** What to say where nothing happened. */
  readonly empty: string
  /** The history of this setting: older values can be restored. */
  readonly ofOne?: Definition
}

export function ChangeList({ source, empty, ofOne }: ChangeListProps): ReactNode {
  const { messages, locale } = usePage()
  const { changes, failure, done, showOlder } = source
  // Of each setting the newest entry: only what holds now can be undone.
  const newest = new Map<string, ListedHistoryEntry>()
  for (const entry of changes?.flatMap(({ entries }) => entries) ?? [])
    if (!newest.has(entry.key)) newest.set(entry.key, entry)
  return (
    <>
      {failure && (
        <p className="fm-error" role="alert">
          {failure}
        </p>
      )}
      {ofOne && (
        <p className={done ? 'fm-small' : 'fm-hidden'} role="status" dir="auto">
          {done}
        </p>
      )}
      {!changes && !failure && <p role="status">{messages.loading}</p>}
      {changes?.length === 0 && <p className="fm-empty">{empty}</p>}
      {daysOf(changes ?? []).map(([day, ofDay]) => (
        <Fragment key={day}>
          <h3 className="fm-day">{displayDay(day, locale)}</h3>
          <ul className="fm-card">
            {ofDay.map((change) => (
              <Change key={change.revision} change={change} newest={newest} source={source} ofOne={ofOne} />
            ))}
          </ul>
        </Fragment>
      ))}
      {showOlder && (
        <button type="button" className="fm-button" onClick={showOlder}>
          {messages.showOlder}
        </button>
      )}
    </>
  )
}

/** Changes by the day on which they were made, in the browser's zone. */
function daysOf(changes: readonly SettingChangeSet[]): (readonly [string, readonly SettingChangeSet[]])[] {
  const byDay = new Map<string, SettingChangeSet[]>()
  for (const change of changes) {
    const day = new Date(change.at).toDateString()
    const ofDay = byDay.get(day) ?? []
    ofDay.push(change)
    byDay.set(day, ofDay)
  }
  return [...byDay]
}

/** `Today`, `Yesterday`, `Thursday, 19 November`, with the year where it is another one. */
function displayDay(day: string, locale: string): string {
  const date = new Date(day)
  const now = new Date()
  const ago = Math.round((new Date(now.toDateString()).getTime() - date.getTime()) / 86_400_000)
  if (ago < 2) return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(-ago, 'day')
  const year = date.getFullYear() === now.getFullYear() ? undefined : 'numeric'
  return new Intl.DateTimeFormat(locale, { weekday: 'long', day: 'numeric', month: 'long', year }).format(
    date,
  )
}

interface ChangeProps {
  readonly change: SettingChangeSet
  readonly newest: ReadonlyMap<string, ListedHistoryEntry>
  readonly source: Changes
  readonly ofOne: Definition | undefined
}

/** What was written together. */
function Change({ change, newest, source, ofOne }: ChangeProps): ReactNode {
  const { messages, locale, reveal } = usePage()
  const definitions = useEditor((state) => state.definitions)
  const { actor, at, entries } = change
  const [first] = entries
  if (!first) return null
  const definitionOf = ({ key }: ListedHistoryEntry): Definition | undefined =>
    definitions.find((each) => each.key === key)
  const nameOf = (entry: ListedHistoryEntry): ReactNode => {
    const definition = definitionOf(entry)
    if (!definition || ofOne) return <b dir="auto">{definition?.displayName ?? entry.key}</b>
    return (
      <button type="button" className="fm-link is-name" dir="auto" onClick={() => reveal(entry.key)}>
        {definition.displayName}
      </button>
    )
  }
  const person = actor ?? messages.somebody
  const who = <b dir="auto">{person}</b>
  const isSingle = entries.length === 1
  const sentence = isSingle
    ? first.isOverridden
      ? messages.someoneChanged
      : messages.someoneReset
    : plural(messages.someoneChangedMany, entries.length, locale)
  const date = new Date(at)
  return (
    <li className="fm-event" tabIndex={-1}>
      <span className="fm-face" aria-hidden="true">
        {initialsOf(person)}
      </span>
      <div>
        <p>
          {withNodes(sentence, { who, name: nameOf(first) })}
          <Reason entry={first} />
        </p>
        {entries.map((entry) => {
          const definition = definitionOf(entry)
          const isNewest = newest.get(entry.key) === entry
          return (
            <div key={`${entry.scope} ${entry.key}`} className="fm-entry">
              {!isSingle && nameOf(entry)}
              {definition && <EntryDiff entry={entry} definition={definition} fail={source.fail} />}
              {definition && (
                <WayBack {...{ entry, definition, isNewest, source }} isHistory={ofOne !== undefined} />
              )}
            </div>
          )
        })}
      </div>
      <time dateTime={at} title={displayTime(at, locale)}>
        {relativeTime(date, locale)}
        {' · '}
        {new Intl.DateTimeFormat(locale, { timeStyle: 'short' }).format(date)}
      </time>
    </li>
  )
}

/** A text whose placeholders stand for elements. */
function withNodes(text: string, nodes: Readonly<Record<string, ReactNode>>): ReactNode {
  return text
    .split(/\{(\w+)\}/)
    .map((part, index) => <Fragment key={index}>{index % 2 === 1 ? nodes[part] : part}</Fragment>)
}

/** How a change came about, where it is not the usual way, and the note of its writer. */
function Reason({ entry: { origin, note } }: { readonly entry: ListedHistoryEntry }): ReactNode {
  const { messages } = usePage()
  const ways: Readonly<Record<string, string>> = { import: messages.byImport, rollback: messages.byRollback }
  const words = [ways[origin], note && `“${note}”`].filter(Boolean).join(' · ')
  return words && <span className="fm-small"> {words}</span>
}

interface EntryProps {
  readonly entry: ListedHistoryEntry
  readonly definition: Definition
}

/** Of a long value the size, until it is wanted. */
function EntryDiff({ entry, definition, fail }: EntryProps & Pick<Changes, 'fail'>): ReactNode {
  const { api, messages, locale } = usePage()
  const { key, scope, revision, long } = entry
  const [whole, setWhole] = useState<HistoryEntry>()
  if (long.length === 0 || whole) {
    const { oldValue, newValue, isOverridden } = whole ?? entry
    const unset: Side = { value: toDefault(definition), isDefault: true }
    const from = oldValue === null ? unset : { value: oldValue }
    return <Diff definition={definition} from={from} to={isOverridden ? { value: newValue } : unset} />
  }
  const [longest = 'newValue'] = long.toReversed()
  const bytes = lengthOf(entry[longest]).toLocaleString(locale)
  const show = (): void => void api.historyEntry(key, revision, { scope }).then(setWhole, fail)
  return (
    <p className="fm-diff">
      {format(messages.longValue, { bytes })}
      <button type="button" className="fm-link" onClick={show}>
        {messages.show}
        <span className="fm-hidden"> {displayTime(entry.at, locale)}</span>
      </button>
    </p>
  )
}

/** Bytes of the value that a `LongValue` stands for. */
function lengthOf(value: JsonValue): number {
  return typeof value === 'object' && value !== null && 'length' in value ? Number(value.length) : 0
}

interface WayBackProps extends EntryProps {
  readonly isNewest: boolean
  readonly isHistory: boolean
  readonly source: Changes
}

/** Undoes what holds now; in a history, restores what held once. */
function WayBack({ entry, definition, isNewest, isHistory, source }: WayBackProps): ReactNode {
  const { api, editor, messages, locale, open } = usePage()
  const { key, scope, revision, at } = entry
  const { displayName: name, confirm } = definition
  const value = useEditor((state) => state.values.get(key))
  const mayChange = useMayChange(definition) && value?.locked === false
  const isCurrent = isNewest && value !== undefined && holds(entry, value)
  if (!mayChange || (!isCurrent && !isHistory)) return null

  async function goBack(): Promise<void> {
    source.report('')
    try {
      await api.rollback(key, { scope, revision, undo: isCurrent })
      editor.undo(key)
      await editor.refresh()
      editor.changed()
      const done = isCurrent ? plural(messages.undone, 1, locale) : format(messages.restored, { name })
      if (isHistory) source.report(done)
      else editor.say({ kind: 'undone', text: done })
      source.reload()
    } catch (error) {
      source.fail(error)
    }
  }

  // The history shows what there is to confirm.
  const isAsked = Boolean(confirm) && !isHistory
  return (
    <>
      {isCurrent && isHistory && <span className="fm-pill is-good">{messages.now}</span>}
      <button
        type="button"
        className="fm-link"
        onClick={({ currentTarget }) => {
          if (isAsked) return open({ kind: 'history', definition })
          currentTarget.closest('li')?.focus() // the button goes with what it undoes
          void goBack()
        }}
      >
        {isCurrent ? messages.undo : messages.restore}
        <span className="fm-hidden">
          {' '}
          {name}, {displayTime(at, locale)}
        </span>
      </button>
    </>
  )
}

/** Whether a value is as an entry left it. */
function holds({ isOverridden, revision }: ListedHistoryEntry, value: SettingValue): boolean {
  return isOverridden ? value.version === revision : !value.isOverridden
}
