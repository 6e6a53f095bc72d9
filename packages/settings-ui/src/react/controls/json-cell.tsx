/** One value within a form: a member of an object, or an item of a list. */
import { type HTMLAttributes, type ReactNode, useState } from 'react'
import { type FormField, toNumber } from '../model/json-form.ts'
import type { JsonValue } from '../model/setting.ts'
import { usePage } from '../page-context.ts'
import { Switch } from './choices.tsx'

interface JsonCellProps {
  readonly id: string
  readonly field: FormField
  readonly label: string
  readonly value: JsonValue | undefined
  /** What names it for the focus. */
  readonly place: string | undefined
  /** The first of the control. */
  readonly isFirst: boolean
  readonly isReadOnly: boolean
  readonly error: string | undefined
  readonly onInput: (value: string | number | boolean) => void
}

/** One field, with its label; the name of an item that is a value itself is not shown. */
export function JsonCell(props: JsonCellProps): ReactNode {
  const { id, field, label, place, isFirst, error, value, isReadOnly, onInput } = props
  const { kind, name, isOptional, initial } = field
  const common = {
    id,
    'data-part': place,
    'data-first': isFirst || undefined,
    'aria-label': name === '' ? label : undefined,
    'aria-invalid': error !== undefined || undefined,
    'aria-describedby': error === undefined ? undefined : `${id}-e`,
  }
  const Input = kind === 'choice' ? ChoiceCell : TextCell
  return (
    <div className={kind === 'bool' ? 'fm-cell is-switch' : 'fm-cell'}>
      {name !== '' && (
        <label htmlFor={id} className={isOptional || kind === 'bool' ? undefined : 'is-required'} dir="auto">
          {label}
        </label>
      )}
      {kind === 'bool' ? (
        <Switch {...common} isOn={(value ?? initial) === true} readOnly={isReadOnly} onTurn={onInput} />
      ) : (
        <Input {...props} common={common} />
      )}
      {error !== undefined && (
        <span className="fm-note is-bad" id={`${id}-e`} dir="auto">
          {error}
        </span>
      )}
    </div>
  )
}

type InputProps = JsonCellProps & { readonly common: HTMLAttributes<HTMLElement> }

function ChoiceCell({ common, field: { options }, value, isReadOnly, onInput }: InputProps): ReactNode {
  const { messages } = usePage()
  const stored = value === undefined ? '' : String(value)
  return (
    <select
      {...common}
      disabled={isReadOnly}
      value={stored}
      onChange={({ currentTarget }) =>
        onInput(options.find((each) => String(each.value) === currentTarget.value)?.value ?? '')
      }
    >
      {!options.some((each) => String(each.value) === stored) && (
        <option value={stored}>{stored || messages.noValue}</option>
      )}
      {options.map((each) => (
        <option key={String(each.value)} value={String(each.value)}>
          {each.label}
        </option>
      ))}
    </select>
  )
}

function TextCell({ common, field: { kind }, value, isReadOnly, onInput }: InputProps): ReactNode {
  // `1.` and `1.0` are numbers on the way to others: what was typed stays.
  const [typed, setTyped] = useState('')
  const stored = value === undefined ? '' : String(value)
  const text = kind === 'number' && typed !== '' && toNumber(typed) === value ? typed : stored
  const isNumber = kind === 'number'
  return (
    <input
      {...common}
      className="fm-field"
      type="text"
      dir={isNumber ? 'ltr' : 'auto'}
      inputMode={isNumber ? 'decimal' : undefined}
      autoComplete="off"
      readOnly={isReadOnly}
      value={text}
      onInput={({ currentTarget }) => {
        setTyped(currentTarget.value)
        onInput(isNumber ? toNumber(currentTarget.value) : currentTarget.value)
      }}
    />
  )
}
