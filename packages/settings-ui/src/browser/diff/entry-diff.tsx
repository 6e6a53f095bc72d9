/** What one change did to one value. */
import type { HistoryEntry } from '@fastify-modular/settings/client'
import type { ComponentChildren } from 'preact'
import { toDefault } from '../model/setting.ts'
import { useEditor } from '../page-context.ts'
import { Diff, type Side } from './diff.tsx'

export function EntryDiff({ entry }: { readonly entry: HistoryEntry }): ComponentChildren {
  const { oldValue, newValue, isOverridden, key } = entry
  const definition = useEditor(({ byKey }) => byKey.get(key))
  if (!definition) return null
  const unset: Side = { value: toDefault(definition), isDefault: true }
  const from = oldValue === null ? unset : { value: oldValue }
  return <Diff definition={definition} from={from} to={isOverridden ? { value: newValue } : unset} />
}
