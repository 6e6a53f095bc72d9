/** What all controls get: the setting, the attributes of their element, and how they report what is entered. */
import type { Definition, Draft, Input, SettingValue } from '../model/setting.ts'

/** A setting as its row shows it. */
export interface RowParts {
  readonly definition: Definition
  readonly value: SettingValue
  readonly draft: Draft | undefined
}

/** The attributes of the element that the label names. */
export interface Field {
  readonly id: string
  readonly 'aria-describedby': string
  readonly 'aria-invalid': true | undefined
  readonly value: string
  readonly placeholder: string | undefined
  readonly required: boolean
  readonly readOnly: boolean
  readonly autoComplete: string
  readonly spellcheck: boolean
  readonly onInput: (event: InputOf<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>) => void
  readonly onBlur: () => void
}

/** An event of an element that has a value. */
interface InputOf<T> {
  readonly currentTarget: T
}

export interface ControlProps extends RowParts {
  readonly field: Field
  /** For controls that are more than their element. */
  readonly onInput: (input: Input) => void
  /** A choice that is complete with one press: preferences are saved then. */
  readonly onChoose: (input: Input) => void
}
