/** The control of a setting, with what is stored or entered in it. */
import type { ReactNode } from 'react'
import { toInput } from '../model/input.ts'
import { type Definition, type Draft, elementId, type Input, type SettingValue } from '../model/setting.ts'
import { usePage } from '../shared/page-context.ts'
import type { Field } from '../controls/control-props.ts'
import { controlOf } from '../controls/controls.tsx'

interface ControlPartsProps {
  readonly definition: Definition
  readonly value: SettingValue
  readonly draft: Draft | undefined
  readonly isReadOnly: boolean
  /** Ids of what there is to know about it. */
  readonly describedBy: string
}

export function Control(props: ControlPartsProps): ReactNode {
  const { definition, value, draft, isReadOnly, describedBy } = props
  const page = usePage()
  const { editor, messages } = page
  const { sensitive, placeholder, required } = definition
  const isSet = value.isOverridden || value.locked
  const input = draft?.input ?? toInput(definition, value.value)
  const onInput = (entered: Input): void => editor.edit(definition, entered)
  const secret = isSet ? messages.secretSet : messages.secretNotSet
  const field: Field = {
    id: elementId(page, definition),
    'aria-describedby': describedBy,
    'aria-invalid': (draft?.errors.length ?? 0) > 0 || undefined,
    value: String(input),
    placeholder: sensitive ? secret : (placeholder ?? undefined),
    required: required && !(sensitive && isSet),
    readOnly: isReadOnly,
    autoComplete: 'off',
    spellCheck: false,
    onInput: (event) => onInput(event.currentTarget.value),
    onBlur: () => afterPress(() => editor.check(definition)),
  }
  const Chosen = controlOf(definition)
  return <Chosen definition={definition} field={field} input={input} onInput={onInput} />
}

/** A message that appears while a button is pressed would push the button away, and the click would be lost. */
function afterPress(run: () => void): void {
  if (document.querySelector(':active')) addEventListener('pointerup', () => setTimeout(run), { once: true })
  else run()
}
