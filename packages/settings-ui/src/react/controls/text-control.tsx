/** One line: Text, Number, Url, Email and DateTime. */
import type { HTMLAttributes, ReactNode } from 'react'
import { isWebUrl } from '../model/check-input.ts'
import { SettingType } from '@fastify-modular/settings/client'
import { usePage } from '../shared/page-context.ts'
import type { ControlProps } from './control-props.ts'

interface Kind {
  readonly type?: 'url' | 'email' | 'datetime-local'
  readonly inputMode?: HTMLAttributes<HTMLInputElement>['inputMode']
  readonly dir?: 'ltr'
  readonly step?: number
  readonly spellCheck?: boolean
}

/** Not `type="number"`: the wheel changes it, and it hides from us what it cannot parse. */
const kinds: Readonly<Record<number, Kind>> = {
  [SettingType.Text]: { spellCheck: true },
  [SettingType.Number]: { inputMode: 'decimal', dir: 'ltr' },
  [SettingType.Url]: { type: 'url', dir: 'ltr' },
  [SettingType.Email]: { type: 'email', dir: 'ltr' },
  [SettingType.DateTime]: { type: 'datetime-local', step: 1 },
}

export function TextControl({ definition, field }: ControlProps): ReactNode {
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
