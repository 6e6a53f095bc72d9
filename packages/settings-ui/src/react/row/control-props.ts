/** What every control takes. */
import type { Definition, Input } from '../model/setting.ts'

export interface ControlProps {
  readonly definition: Definition
  readonly id: string
  readonly input: Input
  /** Whether a value is stored; secrets show nothing else. */
  readonly isSet: boolean
  readonly isReadOnly: boolean
  /** The ARIA attributes of the element that the label names. */
  readonly aria: { readonly 'aria-describedby': string; readonly 'aria-invalid': boolean | undefined }
  readonly onInput: (input: Input) => void
  readonly onBlur: () => void
}
