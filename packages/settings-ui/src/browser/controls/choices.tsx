/** Controls that are changed with one press: switches, short choices side by side, lists of options. */
import { type SettingOption, SettingType } from '@fastify-modular/settings/client'
import type { ComponentChildren, HTMLAttributes } from 'preact'
import { format, type Messages } from '../../texts/messages.ts'
import { type Definition, optionsOf } from '../model/setting.ts'
import { usePage } from '../page-context.ts'
import type { ControlProps } from './control-props.ts'
import { TextField } from './one-line.tsx'

interface SwitchProps extends Omit<HTMLAttributes<HTMLInputElement>, 'role'> {
  readonly readOnly: boolean
  readonly isOn: boolean
  readonly onTurn: (isOn: boolean) => void
}

/** The thumb says the position. */
export function Switch({ isOn, onTurn, readOnly, ...attributes }: SwitchProps): ComponentChildren {
  return (
    <input
      {...attributes}
      type="checkbox"
      role="switch"
      aria-readonly={readOnly || undefined}
      checked={isOn}
      // A checkbox has no read-only state; disabled, it could be neither focused nor read.
      onClick={(event) => readOnly && event.preventDefault()}
      onChange={(event) => !readOnly && onTurn(event.currentTarget.checked)}
    />
  )
}

export function SwitchControl({ field, onChoose }: ControlProps): ComponentChildren {
  const { value, placeholder: _placeholder, onInput: _onInput, required: _required, ...rest } = field
  return <Switch {...rest} isOn={value === 'true'} onTurn={onChoose} />
}

/** Select; also a secret Bool, which must not show its position. */
export function ChoiceControl(props: ControlProps): ComponentChildren {
  const { messages } = usePage()
  const { definition, field, onChoose } = props
  const options = offeredOptions(definition, field.value, messages)
  if (isSegmented(definition) && !field.readOnly) {
    const { id, value, onBlur } = field
    return (
      <Segments
        id={id}
        aria-labelledby={`${id}-l`}
        aria-describedby={field['aria-describedby']}
        name={id}
        options={options.filter((option) => option.value !== '')}
        value={value}
        onChoose={onChoose}
        onBlurCapture={onBlur}
      />
    )
  }
  const chosen = options.find(({ value }) => value === field.value)
  if (field.readOnly) {
    // A select has no read-only state; disabled, it could be neither focused nor read.
    return <TextField control={props} value={chosen?.label ?? field.value} />
  }
  if (options.length > mostListed) return <FilteredChoice {...props} options={options} />
  const { onInput: _onInput, placeholder: _placeholder, ...rest } = field
  return (
    <select {...rest} onChange={(event) => onChoose(event.currentTarget.value)}>
      {options.map(({ value, label, description }) => (
        <option key={value} value={value} title={description ?? undefined}>
          {label}
        </option>
      ))}
    </select>
  )
}

/** Options up to which a list is read; of more, those are listed that have what is typed. */
const mostListed = 30

type FilteredChoiceProps = ControlProps & { readonly options: readonly SettingOption[] }

function FilteredChoice({ options, field, onInput }: FilteredChoiceProps): ComponentChildren {
  const list = `${field.id}-o`
  const chosen = options.find(({ value }) => value === field.value)
  return (
    <span className="fm-field fm-line">
      <input
        {...field}
        className="fm-bare"
        list={list}
        value={chosen?.label ?? field.value}
        onFocus={(event) => event.currentTarget.select()}
        onInput={({ currentTarget: { value: typed } }) =>
          onInput(options.find(({ label }) => label === typed)?.value ?? typed)
        }
      />
      <datalist id={list}>
        {options.map(({ value, label }) => (
          <option key={value} value={label} />
        ))}
      </datalist>
    </span>
  )
}

/** Letters of all labels up to which choices fit side by side. */
const widestSegments = 30

/** Whether its few options are shown side by side. */
export function isSegmented(definition: Definition): boolean {
  const labels = optionsOf(definition).map(({ label }) => label)
  const isShort = labels.length > 1 && labels.length <= 3 && labels.join('').length <= widestSegments
  return definition.type === SettingType.Select && !definition.sensitive && isShort
}

interface SegmentsProps extends HTMLAttributes<HTMLElement> {
  /** Of the group of radio buttons. */
  readonly name: string
  readonly options: readonly SettingOption[]
  readonly value: string
  readonly onChoose: (value: string) => void
}

/** Choices side by side. */
export function Segments({
  name,
  options,
  value,
  onChoose,
  ...attributes
}: SegmentsProps): ComponentChildren {
  const first = options.find((option) => option.value === value) ?? options[0]
  return (
    <span className="fm-seg" role="radiogroup" tabIndex={-1} {...attributes}>
      {options.map((option) => (
        <label key={option.value} title={option.description ?? undefined}>
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            data-first={option === first || undefined}
            onChange={() => onChoose(option.value)}
          />
          {option.label}
        </label>
      ))}
    </span>
  )
}

/** What can be chosen, and what is stored. */
function offeredOptions(definition: Definition, current: string, messages: Messages): SettingOption[] {
  const { sensitive, required } = definition
  const offered = [...optionsOf(definition, messages)]
  if (sensitive) offered.unshift({ value: '', label: messages.unchanged })
  else if (!required || current === '') offered.unshift({ value: '', label: messages.useDefault })
  const isKnown = offered.some(({ value }) => value === current)
  if (!isKnown) offered.push({ value: current, label: format(messages.noLongerAllowed, { value: current }) })
  return offered
}
