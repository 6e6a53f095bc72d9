/** Select; also a secret Bool, which must not show its position. */
import type { ReactNode } from 'react'
import { format } from '../messages/format.ts'
import type { Messages } from '../messages/messages.ts'
import { SettingType } from '@fastify-modular/settings/client'
import type { Definition } from '../model/setting.ts'
import { usePage } from '../page/page-context.ts'
import type { ControlProps } from './control-props.ts'

export function SelectControl(props: ControlProps): ReactNode {
  const { definition, id, input, isReadOnly, aria, onInput, onBlur } = props
  const { messages } = usePage()
  const text = String(input)
  const options = optionsOf(definition, text, messages)
  const shown = options.find(([value]) => value === text)?.[1] ?? text
  // A select knows no read-only; disabled, it could be neither reached nor read.
  if (isReadOnly) return <input {...aria} id={id} value={shown} readOnly />
  return (
    <select
      {...aria}
      id={id}
      value={text}
      required={definition.required && !definition.sensitive}
      onChange={(event) => onInput(event.currentTarget.value)}
      onBlur={onBlur}
    >
      {options.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  )
}

/** Value and label of each option. */
function optionsOf(definition: Definition, current: string, messages: Messages): [string, string][] {
  const { type, sensitive, required, allowedValues } = definition
  const options: [string, string][] =
    type === SettingType.Bool
      ? [
          ['true', messages.on],
          ['false', messages.off],
        ]
      : (allowedValues ?? []).map((value) => [value, value])
  if (sensitive) options.unshift(['', messages.unchanged])
  else if (!required || current === '') options.unshift(['', messages.useDefault])
  const isKnown = options.some(([value]) => value === current)
  if (!isKnown) options.push([current, format(messages.noLongerAllowed, { value: current })])
  return options
}
