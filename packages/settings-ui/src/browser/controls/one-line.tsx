/** Controls of one line: text, numbers, addresses, colours, dates with a time. */
import type { ComponentChildren, RefObject } from 'preact'
import { Icon } from '../icons.tsx'
import { format } from '../../texts/messages.ts'
import { isWebUrl } from '../model/input.ts'
import { spokenTime } from '../model/times.ts'
import { usePage } from '../page-context.ts'
import type { ControlProps, Field } from './control-props.ts'

/** Of each type on its own: elements of one have attributes that those of another lack. */
type InputType =
  | { readonly type?: 'text' }
  | { readonly type: 'datetime-local' }
  | { readonly type: 'email' }
  | { readonly type: 'password' }
  | { readonly type: 'url' }

interface TextFieldProps extends Partial<Field> {
  readonly control: ControlProps
  readonly dir?: 'auto' | 'ltr'
  readonly inputMode?: 'decimal'
  readonly maxLength?: number
  readonly step?: number
  readonly inputRef?: RefObject<HTMLInputElement | null>
  /** Whether the field shows what it stands for over the input. */
  readonly isSpoken?: boolean
  readonly before?: ComponentChildren
  /** After the input. */
  readonly children?: ComponentChildren
}

/** What looks like the field, and the bare input inside; a lock says that the server fixes the value. */
export function TextField(props: TextFieldProps & InputType): ComponentChildren {
  const { control, inputRef, isSpoken = false, before, children, ...attributes } = props
  return (
    <span className={isSpoken ? 'fm-field fm-line fm-when' : 'fm-field fm-line'}>
      {control.value.locked && <Icon name="lock" />}
      {before}
      <input className="fm-bare" {...control.field} {...attributes} ref={inputRef ?? null} />
      {children}
    </span>
  )
}

export function TextControl(props: ControlProps): ComponentChildren {
  return <TextField control={props} spellcheck dir="auto" />
}

export function EmailControl(props: ControlProps): ComponentChildren {
  return <TextField control={props} type="email" dir="ltr" />
}

export function NumberControl(props: ControlProps): ComponentChildren {
  const { definition, field } = props
  const { unit, min, max } = definition
  const range = min !== null && max !== null ? `${min}–${max}` : undefined
  const hint = unit ?? range

  return (
    <TextField control={props} inputMode="decimal" dir="ltr">
      {hint && (
        <span className="fm-small fm-unit" id={`${field.id}-u`} dir="auto">
          {hint}
        </span>
      )}
    </TextField>
  )
}

export function UrlControl(props: ControlProps): ComponentChildren {
  const { messages } = usePage()
  const { definition, field } = props
  return (
    <TextField control={props} type="url" dir="ltr">
      {isWebUrl(field.value) && (
        <a
          className="fm-button is-quiet is-icon"
          href={field.value}
          target="_blank"
          rel="noopener noreferrer"
          aria-label={`${messages.open} ${definition.displayName}`}
        >
          <Icon name="open" />
        </a>
      )}
    </TextField>
  )
}

/** A picker, and the text that it stands for. */
export function ColorControl(props: ControlProps): ComponentChildren {
  const { messages } = usePage()
  const { value: typed, placeholder, readOnly, onInput, onBlur } = props.field
  // While it is typed it is no colour yet.
  const color = [typed, props.value.value].map(String).find((each) => /^#[0-9a-f]{6}$/i.test(each))
  const picker = (
    <input
      type="color"
      className="fm-swatch"
      aria-label={format(messages.picker, { name: props.definition.displayName })}
      value={color?.toLowerCase() ?? '#000000'}
      disabled={readOnly}
      tabIndex={-1}
      onInput={onInput}
      onBlur={onBlur}
    />
  )
  return (
    <TextField
      control={props}
      before={picker}
      dir="ltr"
      placeholder={placeholder ?? '#RRGGBB'}
      maxLength={7}
    />
  )
}

/** At rest it reads as people say it; with the focus it is the browser's own field. */
export function DateTimeControl(props: ControlProps): ComponentChildren {
  const { locale, messages } = usePage()
  const { value } = props.field
  const spoken = value === '' ? messages.noValue : spokenTime(value, locale)
  // Browsers ask for seconds where some may be entered.
  const step = /:\d\d:\d\d/.test(value) ? 1 : 60
  return (
    <TextField control={props} isSpoken={spoken !== ''} type="datetime-local" step={step}>
      {spoken && <span aria-hidden="true">{spoken}</span>}
      <Icon name="calendar" />
    </TextField>
  )
}
