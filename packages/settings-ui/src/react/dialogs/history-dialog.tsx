/** What happened to one setting, newest first, and the way back. */
import type { ListedHistoryEntry } from '@fastify-modular/settings/client'
import { type ReactNode, useEffect, useState } from 'react'
import { format } from '../messages.ts'
import { displayTime, displayValue } from '../model/setting.ts'
import type { Definition, JsonValue } from '../model/setting.ts'
import { toFailure } from '../model/source.ts'
import { useEditor, useMayChange, usePage } from '../page-context.ts'
import { failureText } from '../messages.ts'
import { Dialog } from './dialog.tsx'

interface HistoryDialogProps {
  readonly definition: Definition
  readonly onClose: () => void
}

/** What happened, and where the page after it begins. */
interface Found {
  readonly entries?: readonly ListedHistoryEntry[]
  readonly next?: string | null
}

export function HistoryDialog({ definition, onClose }: HistoryDialogProps): ReactNode {
  const { api, editor, messages, locale } = usePage()
  const { key, displayName } = definition
  const value = useEditor((state) => state.values.get(key))
  const mayChange = useMayChange(definition) && value?.locked !== true
  const scope = value?.scope ?? definition.scope
  const [{ entries, next }, setFound] = useState<Found>({})
  const [failure, setFailure] = useState('')

  useEffect(() => {
    let isGone = false
    api.history(key, { scope, limit: 100 }).then(
      (page) => !isGone && setFound(page),
      (error: unknown) => !isGone && setFailure(failureText(toFailure(error), messages)),
    )
    return () => {
      isGone = true
    }
  }, [api, key, scope, messages])

  async function showOlder(before: string): Promise<void> {
    try {
      const page = await api.history(key, { scope, before, limit: 100 })
      setFound((found) => ({ ...found, ...page, entries: [...(found.entries ?? []), ...page.entries] }))
    } catch (error) {
      setFailure(failureText(toFailure(error), messages))
    }
  }

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
      {mayChange && definition.confirm && <p>{definition.confirm}</p>}
      {!entries && !failure && <p>{messages.loading}</p>}
      {entries?.length === 0 && <p>{messages.historyEmpty}</p>}
      <ol className="fm-history">
        {entries?.map((entry, index) => (
          <li key={entry.revision}>
            <Entry entry={entry} definition={definition} onFailure={setFailure} />
            {index > 0 && mayChange && (
              <button type="button" className="fm-button" onClick={() => void restore(entry.revision)}>
                {messages.restore}
                <span className="fm-hidden"> {displayTime(entry.at, locale)}</span>
              </button>
            )}
          </li>
        ))}
      </ol>
      {next && (
        <button type="button" className="fm-button" onClick={() => void showOlder(next)}>
          {messages.historyOlder}
        </button>
      )}
    </Dialog>
  )
}

interface EntryProps {
  readonly entry: ListedHistoryEntry
  readonly definition: Definition
  readonly onFailure: (text: string) => void
}

function Entry({ entry, definition, onFailure }: EntryProps): ReactNode {
  const { api, messages, locale } = usePage()
  const { key, scope, revision, newValue, isOverridden, actor, at, note, origin } = entry
  const [whole, setWhole] = useState<string>()
  const isLong = entry.long.includes('newValue')
  const shown = definition.sensitive
    ? messages.historySecret
    : isLong
      ? format(messages.historyLong, { bytes: lengthOf(newValue).toLocaleString(locale) })
      : displayValue(definition, newValue, messages)

  async function show(): Promise<void> {
    try {
      const { newValue: value } = await api.historyEntry(key, revision, { scope })
      setWhole(typeof value === 'string' ? value : JSON.stringify(value, null, 2))
    } catch (error) {
      onFailure(failureText(toFailure(error), messages))
    }
  }

  return (
    <div>
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
      {isLong && whole === undefined && (
        <button type="button" className="fm-button" onClick={() => void show()}>
          {messages.historyShow}
          <span className="fm-hidden"> {displayTime(at, locale)}</span>
        </button>
      )}
      {whole !== undefined && (
        <pre className="fm-history-value" tabIndex={0}>
          {whole}
        </pre>
      )}
    </div>
  )
}

/** Bytes of the value that a `LongValue` stands for. */
function lengthOf(value: JsonValue): number {
  return typeof value === 'object' && value !== null && 'length' in value ? Number(value.length) : 0
}
