/** What happened to one setting: the activity of that setting alone. */
import type { HistoryEntry, SettingChangeSet } from '@fastify-modular/settings/client'
import { type ReactNode, useCallback } from 'react'
import { ChangeList } from '../changes/change-list.tsx'
import { type LoadChanges, useChanges } from '../changes/use-changes.ts'
import { format } from '../../texts/messages.ts'
import type { Definition } from '../model/setting.ts'
import { useEditor, usePage } from '../page-context.ts'
import { Dialog } from './dialog.tsx'

interface HistoryDialogProps {
  readonly definition: Definition
  readonly onClose: () => void
}

export function HistoryDialog({ definition, onClose }: HistoryDialogProps): ReactNode {
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
      return { changes: entries.map(toChange), next, people }
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

function toChange(entry: HistoryEntry): SettingChangeSet {
  const { revision, at, actor } = entry
  return { revision, at, actor, entries: [entry] }
}
