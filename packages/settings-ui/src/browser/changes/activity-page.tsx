/** What has happened to all settings, and to one. */
import type { SettingChangeSet } from '@fastify-modular/settings/client'
import type { ComponentChildren } from 'preact'
import { useCallback, useMemo, useState } from 'preact/hooks'
import { format } from '../../texts/messages.ts'
import { ChangeList } from './change-list.tsx'
import { type LoadChanges, useChanges } from './use-changes.ts'
import { Dialog } from '../dialogs/dialog.tsx'
import type { Group } from '../model/listing.ts'
import type { Definition } from '../model/setting.ts'
import { useEditor, usePage } from '../page-context.ts'
import { OpenChanges } from '../trust/open-changes.tsx'

const hour = 3_600_000
const none = { actor: '', group: '', hours: '' }

export function ActivityPage({ groups }: { readonly groups: readonly Group[] }): ComponentChildren {
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
  ]
  const choices = [
    ['actor', messages.person, messages.anyone, people.map((id) => [id, names.get(id) ?? id])],
    ['group', messages.group, messages.allGroups, groups.map(({ slug, name }) => [slug, name])],
    ['hours', messages.time, messages.anyTime, spans],
  ] as const
  return (
    <section aria-label={messages.activity}>
      <div className="fm-head">
        <div>
          <h2 className="fm-line">
            <span>{messages.activity}</span>
          </h2>
          <p className="fm-small">{messages.activityHint}</p>
        </div>
      </div>
      <OpenChanges sections={[]} />
      <div className="fm-chips fm-line">
        {choices.map(([name, label, all, options]) => (
          <select
            key={name}
            className={filter[name] === '' ? 'fm-chip' : 'fm-chip is-on'}
            aria-label={label}
            value={filter[name]}
            onChange={(event) => setFilter({ ...filter, [name]: event.currentTarget.value })}
          >
            <option value="">{all}</option>
            {options.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        ))}
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

interface HistoryDialogProps {
  readonly definition: Definition
  readonly onClose: () => void
}

export function HistoryDialog({ definition, onClose }: HistoryDialogProps): ComponentChildren {
  const { api, messages } = usePage()
  const { key, displayName: name, confirm } = definition
  const scope = useEditor((state) => state.values.get(key)?.scope) ?? definition.scope
  const load = useCallback<LoadChanges>(
    async (before) => {
      const { entries, next, people } = await api.history(key, {
        scope,
        limit: 100,
        ...(before !== undefined && { before }),
      })
      // Each alone, as a change set of one.
      const changes = entries.map((entry): SettingChangeSet => ({ ...entry, entries: [entry] }))
      return { changes, next, people }
    },
    [api, key, scope],
  )
  return (
    <Dialog title={format(messages.historyTitle, { name })} onClose={onClose}>
      <p>
        <code dir="ltr">{key}</code>
      </p>
      {confirm && (
        <p className="fm-warning is-warn" dir="auto">
          {confirm}
        </p>
      )}
      <ChangeList source={useChanges(load)} empty={messages.historyEmpty} ofOne={definition} />
    </Dialog>
  )
}
