/** Color: a picker, and the text that it stands for. */
import type { ReactNode } from 'react'
import { format } from '../messages/format.ts'
import { usePage } from '../shared/page-context.ts'
import type { ControlProps } from './control-props.ts'

export function ColorControl({ definition, field }: ControlProps): ReactNode {
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
