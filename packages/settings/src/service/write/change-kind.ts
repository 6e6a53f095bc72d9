/** What a write does to one value. */
import type { EntryOutcome } from './write.ts'

export type ChangeKind = 'create' | 'update' | 'delete' | 'none'

/** The kind of change that an entry of a write makes, or would make. */
export function kindOf({ before, change }: Partial<EntryOutcome>): ChangeKind {
  if (!change) return 'none'
  if (change.value === null) return 'delete'
  return before ? 'update' : 'create'
}
