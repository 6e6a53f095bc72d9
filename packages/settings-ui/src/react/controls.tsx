/** The controls: one for each type of setting (S 2.3). */
import { type SettingOption, SettingType } from '@fastify-modular/settings/client'
import { type FormEvent, type HTMLAttributes, type KeyboardEvent, type ReactNode, useState } from 'react'
import { format, type Messages } from './messages.ts'
import { isWebUrl } from './model/input.ts'
import type { Definition, Input } from './model/setting.ts'
import { usePage } from './page-context.ts'

type ControlComponent = (props: ControlProps) => ReactNode

const controls: Readonly<Record<number, ControlComponent>> = {
  [SettingType.Text]: TextControl,
  [SettingType.Number]: TextControl,
  [SettingType.Bool]: SwitchControl,
  [SettingType.Json]: LongTextControl,
  [SettingType.Select]: SelectControl,
  [SettingType.Color]: ColorControl,
  [SettingType.Url]: TextControl,
  [SettingType.Email]: TextControl,
  [SettingType.Password]: SecretControl,
  [SettingType.MultilineText]: LongTextControl,
  [SettingType.DateTime]: TextControl,
}

export function controlOf({ type, sensitive }: Definition): ControlComponent {
  if (!sensitive) return controls[type] ?? Unsupported
  if (isWide(type)) return LongTextControl
  return type === SettingType.Bool || type === SettingType.Select ? SelectControl : SecretControl
}

/** Whether a row gives its control the whole width (Json and MultilineText; S 2.3). */
export function isWide(type: number): boolean {
  return type === SettingType.Json || type === SettingType.MultilineText
}

/** A type of a newer server: its value is shown and left alone. */
function Unsupported({ field }: ControlProps): ReactNode {
  const { messages } = usePage()
  return (
    <>
      <input {...field} readOnly />
      <p className="fm-hint">{messages.unsupported}</p>
    </>
  )
}

/** An element into which text is entered. */
type TextElement = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

/** The attributes of the element that the label names. */
export interface Field {
  readonly id: string
  readonly 'aria-describedby': string
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

interface ControlProps {
  readonly definition: Definition
  readonly input: Input
  readonly field: Field
  /** For controls that are more than their element. */
  readonly onInput: (input: Input) => void
}

interface Kind {
  readonly type?: 'url' | 'email' | 'datetime-local'
  readonly inputMode?: HTMLAttributes<HTMLInputElement>['inputMode']
  readonly dir?: 'ltr'
  readonly step?: number
  readonly spellCheck?: boolean
}

/** Not `type="number"`: the wheel changes it, and its value is empty for a text that is not a number. */
const kinds: Readonly<Record<number, Kind>> = {
  [SettingType.Text]: { spellCheck: true },
  [SettingType.Number]: { inputMode: 'decimal', dir: 'ltr' },
  [SettingType.Url]: { type: 'url', dir: 'ltr' },
  [SettingType.Email]: { type: 'email', dir: 'ltr' },
  [SettingType.DateTime]: { type: 'datetime-local', step: 1 },
}

/** One line: Text, Number, Url, Email and DateTime. */
function TextControl({ definition, field }: ControlProps): ReactNode {
  const { messages } = usePage()
  const { type, displayName, unit } = definition
  return (
    <div className="fm-control">
      <input {...field} {...kinds[type]} />
      {unit && <span id={`${field.id}-u`}>{unit}</span>}
      {type === SettingType.Url && isWebUrl(field.value) && (
        <a className="fm-quiet" href={field.value} target="_blank" rel="noopener noreferrer">
          {messages.open}
          <span className="fm-hidden"> {displayName}</span>
        </a>
      )}
    </div>
  )
}

/** Several lines of text: MultilineText and Json, the latter with a button that formats. */
function LongTextControl({ definition, field, onInput }: ControlProps): ReactNode {
  const { messages } = usePage()
  const { value, readOnly, onBlur } = field
  const isJson = definition.type === SettingType.Json

  function format(): void {
    try {
      onInput(JSON.stringify(JSON.parse(value), null, 2))
    } catch {
      onBlur() // says where it is broken
    }
  }

  function formatByKey(event: KeyboardEvent): void {
    if (!isJson || !(event.ctrlKey || event.metaKey) || !event.shiftKey || event.code !== 'KeyF') return
    event.preventDefault()
    format()
  }

  return (
    <div className="fm-control fm-tall">
      <textarea
        {...field}
        rows={4} // where style sheets cannot make it as high as its content
        spellCheck={!isJson && !definition.sensitive}
        {...(isJson && { dir: 'ltr', className: 'fm-code' })}
        onKeyDown={formatByKey}
      />
      {isJson && !readOnly && (
        <QuietButton about={definition.displayName} onClick={format}>
          {messages.formatJson}
        </QuietButton>
      )}
    </div>
  )
}

/** Bool: a switch that says its position in words too. */
function SwitchControl({ input, field, onInput }: ControlProps): ReactNode {
  const { messages } = usePage()
  const { id, readOnly, onBlur } = field
  const isOn = input === true
  return (
    <div className="fm-control">
      <input
        id={id}
        type="checkbox"
        role="switch"
        aria-describedby={field['aria-describedby']}
        aria-invalid={field['aria-invalid']}
        aria-readonly={readOnly || undefined}
        checked={isOn}
        // A checkbox has no read-only state; disabled, it could be neither focused nor read.
        onClick={(event) => readOnly && event.preventDefault()}
        onChange={(event) => !readOnly && onInput(event.currentTarget.checked)}
        onBlur={onBlur}
      />
      <span aria-hidden="true">{isOn ? messages.on : messages.off}</span>
    </div>
  )
}

/** Select; also a secret Bool, which must not show its position. */
function SelectControl({ definition, field }: ControlProps): ReactNode {
  const { messages } = usePage()
  const options = optionsOf(definition, field.value, messages)
  const chosen = options.find(({ value }) => value === field.value)
  const help = chosen?.description && `${field.id}-o`
  const described = { ...field, 'aria-describedby': `${help ?? ''} ${field['aria-describedby']}` }
  return (
    <>
      {field.readOnly ? (
        // A select has no read-only state; disabled, it could be neither focused nor read.
        <input {...described} value={chosen?.label} />
      ) : (
        <select {...described}>
          {options.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      )}
      {help && (
        <p className="fm-hint" id={help}>
          {chosen.description}
        </p>
      )}
    </>
  )
}

/** What can be chosen, and what is stored. */
function optionsOf(definition: Definition, current: string, messages: Messages): SettingOption[] {
  const { type, sensitive, required, allowedValues, options } = definition
  const offered: SettingOption[] = [
    ...(type === SettingType.Bool
      ? [
          { value: 'true', label: messages.on },
          { value: 'false', label: messages.off },
        ]
      : (options ?? (allowedValues ?? []).map((value) => ({ value, label: value })))),
  ]
  if (sensitive) offered.unshift({ value: '', label: messages.unchanged })
  else if (!required || current === '') offered.unshift({ value: '', label: messages.useDefault })
  const isKnown = offered.some(({ value }) => value === current)
  if (!isKnown) offered.push({ value: current, label: format(messages.noLongerAllowed, { value: current }) })
  return offered
}

/** Color: a picker, and the text that it stands for. */
function ColorControl({ definition, field }: ControlProps): ReactNode {
  const { messages } = usePage()
  const { value, readOnly, onInput } = field
  return (
    <div className="fm-control">
      <input
        type="color"
        aria-label={format(messages.picker, { name: definition.displayName })}
        value={/^#[0-9a-f]{6}$/i.test(value) ? value.toLowerCase() : '#000000'}
        disabled={readOnly}
        onInput={onInput}
      />
      <input {...field} dir="ltr" placeholder={definition.placeholder ?? '#RRGGBB'} maxLength={7} />
    </div>
  )
}

/** Password, and every one-line secret: what is entered can be shown, what is stored cannot. */
function SecretControl({ definition, field }: ControlProps): ReactNode {
  const { messages } = usePage()
  const [isShown, setShown] = useState(false)
  return (
    <div className="fm-control">
      <input
        {...field}
        type={isShown ? 'text' : 'password'}
        dir="ltr"
        // Browsers fill saved passwords into anything else.
        autoComplete="new-password"
      />
      {field.value && (
        <QuietButton about={definition.displayName} isPressed={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? messages.hide : messages.show}
        </QuietButton>
      )}
    </div>
  )
}

interface QuietButtonProps {
  readonly children: ReactNode
  readonly about?: string
  readonly isPressed?: boolean
  readonly onClick: () => void
}

/** A button that looks like a link. Screen readers also read the name of its setting. */
export function QuietButton({ children, about, isPressed, onClick }: QuietButtonProps): ReactNode {
  return (
    <button type="button" className="fm-quiet" aria-pressed={isPressed} onClick={onClick}>
      {children}
      {about && <span className="fm-hidden"> {about}</span>}
    </button>
  )
}
