/** What all controls get: the attributes of their element, and how they report what is entered. */
import type { FormEvent } from 'react'
import type { Definition, Input } from '../model/setting.ts'

/** An element into which text is entered. */
type TextElement = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

/** The attributes of the element that the label names. */
export interface Field {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean | undefined
  readonly value: string
  readonly placeholder: string | undefined
  readonly required: boolean
  readonly readOnly: boolean
  readonly autoComplete: 'off'
  readonly spellCheck: boolean
  readonly onInput: (event: FormEvent<TextElement>) => void
  readonly onBlur: () => void
}

export interface ControlProps {
  readonly definition: Definition
  readonly input: Input
  readonly field: Field
  /** What is wrong with it. */
  readonly errors: readonly string[]
  /** When the stored value was written; null where none is. */
  readonly storedAt: string | null
  readonly isUnsaved: boolean
  /** The server fixes the value. */
  readonly isLocked: boolean
  /** For controls that are more than their element. */
  readonly onInput: (input: Input) => void
  /** A choice that is complete with one press: preferences are saved then. */
  readonly onChoose: (input: Input) => void
}
