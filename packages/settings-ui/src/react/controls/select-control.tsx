/** Select; also a secret Bool, which must not show its position. */
import type { ReactNode } from 'react'
import { format } from '../messages/format.ts'
import type { Messages } from '../messages/messages.ts'
import { type SettingOption, SettingType } from '@fastify-modular/settings/client'
import type { Definition } from '../model/setting.ts'
import { usePage } from '../shared/page-context.ts'
import type { ControlProps } from './control-props.ts'

export function SelectControl({ definition, field }: ControlProps): ReactNode {
  const { messages } = usePage()
  const options = optionsOf(definition, field.value, messages)
  const chosen = options.find(({ value }) => value === field.value)
  const help = chosen?.description && `${field.id}-o`
  const described = { ...field, 'aria-describedby': `${help ?? ''} ${field['aria-describedby']}` }
  return (
    <>
      {field.readOnly ? (
        // A select knows no read-only; disabled, it could be neither reached nor read.
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
