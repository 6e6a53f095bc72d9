/** Several lines of text: MultilineText and Json, the latter with a button that formats. */
import type { KeyboardEvent, ReactNode } from 'react'
import { SettingType } from '@fastify-modular/settings/client'
import { usePage } from '../shared/page-context.ts'
import type { ControlProps } from './control-props.ts'
import { QuietButton } from '../shared/quiet-button.tsx'

export function LongTextControl({ definition, field, onInput }: ControlProps): ReactNode {
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
