/** Settings that mean something only while another one has a certain value. */
import type { EditorState } from './editor-state.ts'
import { toInput } from '../input/input.ts'
import { type Definition, isStale } from './setting.ts'

/**
 * Whether a setting is left out, because another one differs from what it needs. What is unsaved or broken never is,
 * nor is what depends on a setting that this page does not know.
 */
export function isLeftOut({ key, showWhen }: Definition, state: EditorState): boolean {
  const { definitions, values, drafts } = state
  const value = values.get(key)
  if (!showWhen || !value || drafts.has(key) || isStale(value)) return false
  const other = definitions.find((each) => each.key === showWhen.key)
  const otherValue = values.get(showWhen.key)
  if (!other || !otherValue) return false
  const input = drafts.get(other.key)?.input ?? toInput(other, otherValue.value)
  return input !== toInput(other, showWhen.equals)
}
