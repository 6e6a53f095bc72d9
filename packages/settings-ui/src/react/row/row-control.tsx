/** The control of a setting, with what is stored or entered in it. */
import type { ReactNode } from 'react'
import type { Field } from '../controls/control-props.ts'
import { controlOf } from '../controls/controls.tsx'
import { format } from '../../texts/messages.ts'
import { toInput } from '../model/input.ts'
import { elementId, type Input } from '../model/setting.ts'
import { usePage } from '../page-context.ts'
import type { RowParts } from './row-description.tsx'
import { SchemaControl } from './schema-control.tsx'

interface RowControlProps extends RowParts {
  readonly isReadOnly: boolean
  /** Ids of what there is to know about it. */
  readonly describedBy: string
}

export function RowControl({
  definition,
  value,
  draft,
  isReadOnly,
  describedBy,
}: RowControlProps): ReactNode {
  const page = usePage()
  const { editor, messages } = page
  const { sensitive, placeholder, required, schema } = definition
  const isSet = value.isOverridden || value.locked
  const input = draft?.input ?? toInput(definition, value.value)
  const onInput = (entered: Input): void => editor.edit(definition, entered)
  const secret = isSet ? messages.secretSet : messages.secretNotSet
  const example = placeholder === null ? undefined : format(messages.example, { value: placeholder })
  const field: Field = {
    id: elementId(page, definition),
    'aria-describedby': describedBy || undefined,
    'aria-invalid': (draft && !draft.theirs && draft.errors.length > 0) || undefined,
    value: String(input),
    placeholder: sensitive ? secret : example,
    required: required && !(sensitive && isSet),
    readOnly: isReadOnly,
    autoComplete: 'off',
    spellCheck: false,
    onInput: (event) => onInput(event.currentTarget.value),
    onBlur: () => afterPress(() => editor.leave(definition)),
  }
  const Control = schema === null || sensitive ? controlOf(definition) : SchemaControl
  return (
    <Control
      definition={definition}
      field={field}
      input={input}
      errors={draft?.errors ?? []}
      storedAt={value.updatedAt}
      isUnsaved={draft !== undefined}
      isLocked={value.locked}
      onInput={onInput}
      onChoose={(chosen) => {
        onInput(chosen)
        if (!editor.isOwn) return
        if (definition.confirm) page.save()
        else editor.leave(definition)
      }}
    />
  )
}

/** A message that appears while a button is pressed would push the button away, and the click would be lost. */
function afterPress(run: () => void): void {
  if (document.querySelector(':active')) addEventListener('pointerup', () => setTimeout(run), { once: true })
  else run()
}
