/** Who changed what, from which value to which, when, and the way back. */
import type { HistoryEntry, SettingChangeSet } from '@fastify-modular/settings/client'
import { type ComponentChildren, Fragment } from 'preact'
import { format, plural } from '../../texts/messages.ts'
import { Button } from '../button.tsx'
import type { Changes } from './use-changes.ts'
import { EntryDiff, EntryName, FoldedEntries } from '../diff/entry-diff.tsx'
import { Face } from '../face.tsx'
import type { Definition, SettingValue } from '../model/setting.ts'
import { displayTime, relativeTime } from '../model/times.ts'
import { useEditor, useMayChange, usePage } from '../page-context.ts'

interface ChangeListProps {
  readonly source: Changes
  /** What to say where nothing happened. */
  readonly empty: string
  /** The history of this setting: older values can be restored. */
  readonly ofOne?: Definition
}

export function ChangeList({ source, empty, ofOne }: ChangeListProps): ComponentChildren {
  const { messages, locale } = usePage()
  const { changes = [], failure, done, showOlder } = source
  const listed = ofOne ? changes : withoutUndone(changes)
  // Of each setting the newest entry: only what holds now can be undone.
  const newest = new Map<string, HistoryEntry>()
  for (const entry of changes.flatMap(({ entries }) => entries))
    if (!newest.has(entry.key)) newest.set(entry.key, entry)
  return (
    <>
      {failure && (
        <p className="fm-warning is-bad" role="alert">
          {failure}
        </p>
      )}
      {ofOne && (
        <p className={done ? 'fm-small' : 'fm-hidden'} role="status" dir="auto">
          {done}
        </p>
      )}
      {!source.changes && !failure && <p role="status">{messages.loading}</p>}
      {source.changes?.length === 0 && <p className="fm-empty">{empty}</p>}
      {daysOf(listed).map(([day, ofDay]) => (
        <Fragment key={day}>
          <h3 className="fm-day fm-small">{displayDay(day, locale)}</h3>
          <ul className="fm-card">
            {ofDay.map((change) => (
              <Change
                key={change.revision}
                change={change}
                isOver={!ofOne && isPutBack(change, changes)}
                {...{ newest, source, ofOne }}
              />
            ))}
          </ul>
        </Fragment>
      ))}
      {showOlder && <Button onClick={showOlder} text={messages.showOlder} />}
    </>
  )
}

/** The revision that a change has put back. */
function undoneBy({ entries: [first] }: SettingChangeSet): number | undefined {
  const [, revision] =
    (first?.origin === 'revert' && /^Reverts revision (\d+)\./.exec(first.note ?? '')) || []
  return revision === undefined ? undefined : Number(revision)
}

/** What somebody has changed and put back again is one entry: that of the way back. */
function withoutUndone(changes: readonly SettingChangeSet[]): readonly SettingChangeSet[] {
  const undone = new Map(changes.map((change) => [undoneBy(change), change]))
  return changes.filter((change) => {
    const back = undone.get(change.revision)
    return back === undefined || !isPutBack(back, changes)
  })
}

/** Whether a change has put back all of one by the same person that is in the list, too. */
function isPutBack(change: SettingChangeSet, changes: readonly SettingChangeSet[]): boolean {
  const first = changes.find(({ revision }) => revision === undoneBy(change))
  return first?.actor === change.actor && first.entries.length === change.entries.length && !undoneBy(first)
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
  const days = daysSince(date)
  if (days < 2) return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(-days, 'day')
  const year = date.getFullYear() === new Date().getFullYear() ? undefined : 'numeric'
  return new Intl.DateTimeFormat(locale, { weekday: 'long', day: 'numeric', month: 'long', year }).format(
    date,
  )
}

/** Milliseconds. */
const dayLength = 86_400_000

/** How many dates ago a day was. */
function daysSince(date: Date): number {
  const [then, today] = [date, new Date()].map((each) => Date.parse(each.toDateString()))
  return Math.round((Number(today) - Number(then)) / dayLength)
}

/** `4 hours ago`; from a day on `2 days ago`, counted as the headings are. */
function ago(at: Date, locale: string): string {
  const now = Date.now()
  const isRecent = now - at.getTime() < dayLength
  return relativeTime(isRecent ? at : new Date(now - daysSince(at) * dayLength), locale)
}

interface ChangeProps {
  readonly change: SettingChangeSet
  readonly newest: ReadonlyMap<string, HistoryEntry>
  readonly source: Changes
  readonly ofOne: Definition | undefined
}

interface ListedChangeProps extends ChangeProps {
  /** What it put back was changed by the same person: nothing is left of either. */
  readonly isOver: boolean
}

/** What was written together: one line for who and when, one for what; several changes are folded. */
function Change({ isOver, ...props }: ListedChangeProps): ComponentChildren {
  const { change, ofOne } = props
  const { editor, messages, locale } = usePage()
  const { actor, at, entries } = change
  const person = useEditor(({ people }) => people.get(actor ?? '')) ?? actor ?? messages.somebody
  const [first] = entries
  if (!first) return null
  const isSingle = entries.length === 1 && !isOver
  const names = new Intl.ListFormat(locale, { type: 'unit' }).format(
    entries.map(({ key }) => editor.nameOf(key)),
  )
  const sentence = isOver
    ? plural(messages.changedAndBack, entries.length, locale)
    : isSingle
      ? first.isOverridden
        ? messages.someoneChanged
        : messages.someoneReset
      : plural(messages.someoneChangedMany, entries.length, locale)
  return (
    <li className={isOver ? 'fm-event is-over' : 'fm-event'} tabIndex={-1}>
      <Face id={actor ?? ''} name={person} />
      <p>
        <span>
          {withNodes(sentence, {
            who: <bdi>{person}</bdi>,
            name: <EntryName entry={first} isLink={!ofOne} />,
          })}
          {!isOver && <Reason entry={first} />}
        </span>{' '}
        <time className="fm-small" dateTime={at} title={displayTime(at, locale)}>
          {ago(new Date(at), locale)}
        </time>
      </p>
      <div className="fm-what">
        {isSingle ? (
          <EntryDiff entry={first} />
        ) : (
          <FoldedEntries entries={entries} summary={names} areLinks />
        )}
      </div>
      {!isOver && <WayBack {...props} />}
    </li>
  )
}

/** A text whose placeholders stand for elements. */
function withNodes(text: string, nodes: Readonly<Record<string, ComponentChildren>>): ComponentChildren {
  return text
    .split(/\{(\w+)\}/)
    .map((part, index) => <Fragment key={index}>{index % 2 === 1 ? nodes[part] : part}</Fragment>)
}

/** How a change came about, where it is not the usual way, and the note of its writer. */
function Reason({ entry: { origin, note } }: { readonly entry: HistoryEntry }): ComponentChildren {
  const { messages } = usePage()
  const ways: Readonly<Record<string, string>> = {
    import: messages.byImport,
    restore: messages.byRollback,
    revert: messages.byRollback,
  }
  // The note of a revert names revisions, for programs.
  const words = [ways[origin], note && origin !== 'revert' && `\u2068“${note}”\u2069`]
    .filter(Boolean)
    .join(' · ')
  return words && <span className="fm-small"> {words}</span>
}

/**
 * Takes a change set back, whole or not at all, and asks first where a secret comes back or a change is to be confirmed;
 * in the history of a setting it restores what the setting held once.
 */
function WayBack({ change, newest, source, ofOne }: ChangeProps): ComponentChildren {
  const { api, editor, messages, locale, isAdmin } = usePage()
  const { values, byKey } = useEditor((state) => state)
  const { revision, at, entries } = change
  // Of a set, one value that holds is enough: Undo says who has changed the others since.
  const isCurrent = entries.some(
    (entry) => newest.get(entry.key) === entry && holds(entry, values.get(entry.key)),
  )
  const mayChange = useMayChange(...entries.map(({ key }) => byKey.get(key)))
  const isWhole = entries.every(
    ({ key, setSize }) => values.get(key)?.locked === false && (isAdmin || setSize === entries.length),
  )
  if (!mayChange || !isWhole || !(ofOne || isCurrent)) return null

  const isAsked = !ofOne && entries.some(({ key }) => byKey.get(key)?.sensitive || byKey.get(key)?.confirm)

  async function goBack({ key, displayName: name, scope }: Definition): Promise<void> {
    source.report('')
    const shown = newest.get(key)
    const place = { scope: values.get(key)?.scope ?? scope, revision }
    try {
      if (isCurrent) await api.revert(revision, { keys: [key] })
      // On the version that the list shows: a newer change is never overwritten in silence.
      else await api.restore(key, place, { version: shown?.isOverridden ? shown.revision : 0 })
      editor.undo(key)
      editor.changed([])
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
      {ofOne && isCurrent && <span className="fm-pill is-good">{messages.now}</span>}
      <Button
        about={(ofOne ? `${ofOne.displayName}, ` : '') + displayTime(at, locale)}
        look="quiet"
        onClick={({ currentTarget }) => {
          if (isAsked) return editor.open({ kind: 'revert', revision })
          currentTarget.closest('li')?.focus() // the button goes with what it undoes
          if (ofOne) void goBack(ofOne)
          else void editor.revert(revision).finally(source.reload)
        }}
      >
        {isCurrent ? messages.undo : messages.restore}
        {isAsked && '…'}
      </Button>
    </span>
  )
}

/** Whether a value is as an entry left it. */
function holds({ isOverridden, revision }: HistoryEntry, value: SettingValue | undefined): boolean {
  if (!value) return false
  return isOverridden ? value.version === revision : !value.isOverridden
}
