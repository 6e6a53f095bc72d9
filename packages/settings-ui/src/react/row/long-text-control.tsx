/** Several lines of text: MultilineText and Json, the latter with a button that formats. */
import type { KeyboardEvent, ReactNode } from 'react'
import { SettingType } from '@fastify-modular/settings/client'
import { usePage } from '../page/page-context.ts'
import type { ControlProps } from './control-props.ts'

export function LongTextControl(props: ControlProps): ReactNode {
  const { definition, id, input, isSet, isReadOnly, aria, onInput, onBlur } = props
  const { messages } = usePage()
  const isJson = definition.type === SettingType.Json
  const text = String(input)
  const secret = isSet ? messages.secretSet : messages.secretNotSet

  function format(): void {
    try {
      onInput(JSON.stringify(JSON.parse(text), null, 2))
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
        {...aria}
        id={id}
        value={text}
        rows={Math.min(Math.max(text.split('\n').length, 3), 20)}
        placeholder={definition.sensitive ? secret : (definition.placeholder ?? undefined)}
        required={definition.required && !(definition.sensitive && isSet)}
        readOnly={isReadOnly}
        spellCheck={isJson || definition.sensitive ? 'false' : 'true'}
        {...(isJson && { dir: 'ltr', className: 'fm-code' })}
        onInput={(event) => onInput(event.currentTarget.value)}
        onKeyDown={formatByKey}
        onBlur={onBlur}
      />
      {isJson && !isReadOnly && (
        <button type="button" className="fm-quiet" onClick={format}>
          {messages.formatJson}
          <span className="fm-hidden"> {definition.displayName}</span>
        </button>
      )}
    </div>
  )
}
