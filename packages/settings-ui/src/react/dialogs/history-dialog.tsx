/** What happened to one setting, newest first, and the way back. */
import type { HistoryEntry, SettingInspection } from '@fastify-modular/settings/client'
import { type ReactNode, useEffect, useState } from 'react'
import { format } from '../messages/format.ts'
import { displayTime, displayValue } from '../model/display-value.ts'
import type { Definition } from '../model/setting.ts'
import { toFailure } from '../model/source.ts'
import { useEditor, useMayChange, usePage } from '../page/page-context.ts'
import { failureText } from '../page/save-bar.tsx'
import { Dialog } from './dialog.tsx'

interface HistoryDialogProps {
  readonly definition: Definition
  readonly onClose: () => void
}

/** What happened, and for a locked setting, what locks it. */
type Found = readonly [(readonly HistoryEntry[])?, (SettingInspection | undefined)?]

const lockNames = { option: 'overrides', environment: 'SM_SETTINGS_OVERRIDES' }

export function HistoryDialog({ definition, onClose }: HistoryDialogProps): ReactNode {
  const { api, editor, messages, locale } = usePage()
  const { key, displayName } = definition
  const value = useEditor((state) => state.values.get(key))
  const isLocked = value?.locked === true
  const mayChange = useMayChange(definition) && !isLocked
  const scope = value?.scope ?? definition.scope
  const [[entries, inspection], setFound] = useState<Found>([])
  const [failure, setFailure] = useState('')

  useEffect(() => {
    let isGone = false
    const history = api.history(key, { scope, limit: 100 })
    Promise.all([history, isLocked ? api.inspect(key) : undefined]).then(
      (found) => !isGone && setFound(found),
      (error: unknown) => !isGone && setFailure(failureText(toFailure(error), messages)),
    )
    return () => {
      isGone = true
    }
  }, [api, key, scope, isLocked, messages])

  async function restore(revision: number): Promise<void> {
    try {
      await api.rollback(key, { scope, revision })
      onClose()
      editor.undo(key)
      await editor.refresh()
      editor.changed()
      editor.announce(format(messages.restored, { name: displayName }))
    } catch (error) {
      setFailure(failureText(toFailure(error), messages))
    }
  }

  return (
    <Dialog title={format(messages.historyTitle, { name: displayName })} onClose={onClose}>
      {failure && (
        <p className="fm-error" role="alert">
          {failure}
        </p>
      )}
      {inspection?.lockedBy && <p>{format(messages.lockedBy, { source: lockNames[inspection.lockedBy] })}</p>}
      {mayChange && definition.confirm && <p>{definition.confirm}</p>}
      {!entries && !failure && <p>{messages.loading}</p>}
      {entries?.length === 0 && <p>{messages.historyEmpty}</p>}
      <ol className="fm-history">
        {entries?.map((entry, index) => (
          <li key={entry.revision}>
            <Entry entry={entry} definition={definition} />
            {index > 0 && mayChange && (
              <button type="button" onClick={() => void restore(entry.revision)}>
                {messages.restore}
                <span className="fm-hidden"> {displayTime(entry.at, locale)}</span>
              </button>
            )}
          </li>
        ))}
      </ol>
    </Dialog>
  )
}

function Entry({
  entry,
  definition,
}: {
  readonly entry: HistoryEntry
  readonly definition: Definition
}): ReactNode {
  const { messages, locale } = usePage()
  const { newValue, isOverridden, actor, at, note, origin } = entry
  const shown = definition.sensitive ? messages.historySecret : displayValue(definition, newValue, messages)
  return (
    <p>
      <strong>{actor ?? messages.somebody}</strong>{' '}
      {isOverridden ? format(messages.historySet, { value: shown }) : messages.historyCleared}
      <br />
      <small>
        <time dateTime={at}>{displayTime(at, locale)}</time>
        {origin === 'api' ? '' : ` · ${origin}`}
        {note ? ` · ${note}` : ''}
      </small>
    </p>
  )
}
