/** What all controls get: the setting, the attributes of their element, and how they report what is entered. */
import type { InputHTMLAttributes } from 'react'
import type { Definition, Draft, Input, SettingValue } from '../model/setting.ts'

/** A setting as its row shows it. */
export interface RowParts {
  readonly definition: Definition
  readonly value: SettingValue
  readonly draft: Draft | undefined
}

/** The attributes of the element that the label names. */
export interface Field extends InputHTMLAttributes<
  HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement
> {
  readonly id: string
  readonly value: string
  readonly readOnly: boolean
  readonly onBlur: () => void
}

export interface ControlProps extends RowParts {
  readonly field: Field
  /** For controls that are more than their element. */
  readonly onInput: (input: Input) => void
  /** A choice that is complete with one press: preferences are saved then. */
  readonly onChoose: (input: Input) => void
}
