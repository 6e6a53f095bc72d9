/** One line: Text, Number, Url, Email and DateTime. */
import type { HTMLAttributes, ReactNode } from 'react'
import { isWebUrl } from '../model/check-input.ts'
import { SettingType } from '@fastify-modular/settings/client'
import { usePage } from '../page/page-context.ts'
import type { ControlProps } from './control-props.ts'

interface Kind {
  readonly type: 'text' | 'url' | 'email' | 'datetime-local'
  readonly inputMode?: HTMLAttributes<HTMLInputElement>['inputMode']
  readonly dir?: 'ltr'
  readonly step?: number
}

/** Not `type="number"`: the wheel changes it, and it hides from us what it cannot parse. */
const kinds: Readonly<Record<number, Kind>> = {
  [SettingType.Number]: { type: 'text', inputMode: 'decimal', dir: 'ltr' },
  [SettingType.Url]: { type: 'url', dir: 'ltr' },
  [SettingType.Email]: { type: 'email', dir: 'ltr' },
  [SettingType.DateTime]: { type: 'datetime-local', step: 1 },
}

export function TextControl(props: ControlProps): ReactNode {
  const { definition, id, input, isReadOnly, aria, onInput, onBlur } = props
  const { messages } = usePage()
  const text = String(input)
  const isLink = definition.type === SettingType.Url && isWebUrl(text)
  return (
    <div className="fm-control">
      <input
        {...(kinds[definition.type] ?? { type: 'text' })}
        {...aria}
        id={id}
        value={text}
        placeholder={definition.placeholder ?? undefined}
        required={definition.required}
        readOnly={isReadOnly}
        autoComplete="off"
        spellCheck={definition.type === SettingType.Text ? 'true' : 'false'}
        onInput={(event) => onInput(event.currentTarget.value)}
        onBlur={onBlur}
      />
      {isLink && (
        <a className="fm-quiet" href={text} target="_blank" rel="noopener noreferrer">
          {messages.open}
          <span className="fm-hidden"> {definition.displayName}</span>
        </a>
      )}
    </div>
  )
}
