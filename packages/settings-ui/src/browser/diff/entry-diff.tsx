/** What a change did to one value, or to several. */
import type { HistoryEntry } from '@fastify-modular/settings/client'
import type { ComponentChildren } from 'preact'
import { Button } from '../button.tsx'
import { Icon } from '../icons.tsx'
import { toDefault } from '../model/setting.ts'
import { useEditor, usePage } from '../page-context.ts'
import { Diff, type Side } from './diff.tsx'

interface EntryProps {
  readonly entry: Pick<HistoryEntry, 'key' | 'oldValue' | 'newValue' | 'isOverridden'>
}

export function EntryDiff({ entry }: EntryProps): ComponentChildren {
  const { oldValue, newValue, isOverridden, key } = entry
  const definition = useEditor(({ byKey }) => byKey.get(key))
  if (!definition) return null
  const unset: Side = { value: toDefault(definition), isDefault: true }
  const from = oldValue === null ? unset : { value: oldValue }
  return <Diff definition={definition} from={from} to={isOverridden ? { value: newValue } : unset} />
}

interface EntryNameProps extends Pick<EntryProps, 'entry'> {
  /** Leads to the setting, where a page lists it. */
  readonly isLink: boolean
}

export function EntryName({ entry: { key }, isLink }: EntryNameProps): ComponentChildren {
  const { editor } = usePage()
  const definition = useEditor(({ byKey }) => byKey.get(key))
  if (!definition || definition.hidden || !isLink) return <b dir="auto">{definition?.displayName ?? key}</b>
  return <Button look="name" dir="auto" onClick={() => editor.reveal(key)} text={definition.displayName} />
}

interface FoldedEntriesProps {
  readonly entries: readonly HistoryEntry[]
  readonly summary: string
  /** Their names lead to their settings. */
  readonly areLinks?: boolean
  /** Below them. */
  readonly children?: ComponentChildren
}

export function FoldedEntries({
  entries,
  summary,
  areLinks = false,
  children,
}: FoldedEntriesProps): ComponentChildren {
  return (
    <details className="fm-fold">
      <summary className="fm-line">
        <Icon name="chevron" />
        <span dir="auto">{summary}</span>
      </summary>
      <dl>
        {entries.map((entry) => (
          <div key={`${entry.scope} ${entry.key}`}>
            <dt>
              <EntryName entry={entry} isLink={areLinks} />
            </dt>
            <dd>
              <EntryDiff entry={entry} />
            </dd>
          </div>
        ))}
      </dl>
      {children}
    </details>
  )
}
