/** What has happened to all settings. */
import { type ReactNode, useMemo, useState } from 'react'
import type { Group } from '../model/listing.ts'
import { useEditor, usePage } from '../page-context.ts'
import { ChangeList } from './change-list.tsx'
import { type LoadChanges, useChanges } from './use-changes.ts'

const hour = 3_600_000
const none = { actor: '', group: '', hours: '' }

export function ActivityPage({ groups }: { readonly groups: readonly Group[] }): ReactNode {
  const { api, messages } = usePage()
  const [filter, setFilter] = useState(none)
  const { actor, group, hours } = filter
  const load = useMemo((): LoadChanges => {
    const since = hours === '' ? undefined : new Date(Date.now() - Number(hours) * hour).toISOString()
    const named = groups.find(({ slug }) => slug === group)
    const query = {
      ...(actor !== '' && { actor }),
      ...(named && { group: named.group ?? '' }),
      ...(since !== undefined && { since }),
    }
    return (before) => api.changes({ ...query, ...(before !== undefined && { before }), limit: 50 })
  }, [api, groups, actor, group, hours])
  const source = useChanges(load)
  const people = usePeople(source.changes?.flatMap((change) => change.actor ?? []) ?? [])
  const names = useEditor((state) => state.people)
  const spans = [
    ['24', messages.lastDay],
    ['168', messages.lastWeek],
    ['720', messages.lastMonth],
  ] as const
  const change = (part: Partial<typeof none>): void => setFilter({ ...filter, ...part })
  return (
    <section aria-label={messages.activity}>
      <div className="fm-head">
        <div>
          <h2>
            <span>{messages.activity}</span>
          </h2>
          <p className="fm-small">{messages.activityHint}</p>
        </div>
      </div>
      <div className="fm-chips">
        <Choice
          label={messages.person}
          all={messages.anyone}
          options={people.map((id) => [id, names.get(id) ?? id])}
          value={actor}
          onChange={(chosen) => change({ actor: chosen })}
        />
        <Choice
          label={messages.group}
          all={messages.allGroups}
          options={groups.map(({ slug, name }) => [slug, name])}
          value={group}
          onChange={(chosen) => change({ group: chosen })}
        />
        <Choice
          label={messages.time}
          all={messages.anyTime}
          options={spans}
          value={hours}
          onChange={(chosen) => change({ hours: chosen })}
        />
      </div>
      <ChangeList source={source} empty={filter === none ? messages.activityEmpty : messages.noneLeft} />
    </section>
  )
}

/** Who has changed something, as far as the page knows; nobody leaves the list. */
function usePeople(actors: readonly string[]): readonly string[] {
  const values = useEditor((state) => state.values)
  const [known] = useState(() => new Set<string>())
  for (const { updatedBy } of values.values()) if (updatedBy) known.add(updatedBy)
  for (const actor of actors) known.add(actor)
  return [...known].toSorted()
}

interface ChoiceProps {
  readonly label: string
  /** What stands for no choice. */
  readonly all: string
  readonly options: readonly (readonly [value: string, label: string])[]
  readonly value: string
  readonly onChange: (value: string) => void
}

function Choice({ label, all, options, value, onChange }: ChoiceProps): ReactNode {
  return (
    <select
      className={value === '' ? 'fm-chip' : 'fm-chip is-on'}
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      <option value="">{all}</option>
      {options.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  )
}
