/** Settings that mean something only while another one has a certain value. */
import type { EditorState } from './editor-state.ts'
import { toInput } from './input.ts'
import { type Definition, isStale } from './setting.ts'

/**
 * Whether a setting is left out, because another one differs from what it needs. What is unsaved or broken never is,
 * nor is what depends on a setting that this page does not know.
 */
export function isLeftOut({ key, showWhen }: Definition, state: EditorState): boolean {
  const { definitions, values, drafts } = state
  const value = values.get(key)
  if (!showWhen || !value || drafts.has(key) || isStale(value)) return false
  const draft = drafts.get(showWhen.key)
  const other = draft && definitions.find((each) => each.key === showWhen.key)
  if (other) return draft.input !== toInput(other, showWhen.equals)
  const stored = values.get(showWhen.key)
  return stored !== undefined && JSON.stringify(stored.value) !== JSON.stringify(showWhen.equals)
}
