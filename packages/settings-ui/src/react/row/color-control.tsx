/** Color: a picker, and the text that it stands for. */
import type { ReactNode } from 'react'
import { format } from '../messages/format.ts'
import { usePage } from '../page/page-context.ts'
import type { ControlProps } from './control-props.ts'

export function ColorControl(props: ControlProps): ReactNode {
  const { definition, id, input, isReadOnly, aria, onInput, onBlur } = props
  const { messages } = usePage()
  const text = String(input)
  const isColor = /^#[0-9a-f]{6}$/i.test(text)
  return (
    <div className="fm-control">
      <input
        type="color"
        aria-label={format(messages.picker, { name: definition.displayName })}
        value={isColor ? text.toLowerCase() : '#000000'}
        disabled={isReadOnly}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <input
        {...aria}
        id={id}
        type="text"
        dir="ltr"
        value={text}
        placeholder={definition.placeholder ?? '#RRGGBB'}
        required={definition.required}
        readOnly={isReadOnly}
        autoComplete="off"
        spellCheck="false"
        maxLength={7}
        onInput={(event) => onInput(event.currentTarget.value)}
        onBlur={onBlur}
      />
    </div>
  )
}
