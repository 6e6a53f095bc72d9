/** Bool: a switch that says its position in words too. */
import type { ReactNode } from 'react'
import { usePage } from '../shared/page-context.ts'
import type { ControlProps } from './control-props.ts'

export function SwitchControl({ input, field, onInput }: ControlProps): ReactNode {
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
        // A checkbox knows no read-only; disabled, it could be neither reached nor read.
        onClick={(event) => readOnly && event.preventDefault()}
        onChange={(event) => !readOnly && onInput(event.currentTarget.checked)}
        onBlur={onBlur}
      />
      <span aria-hidden="true">{isOn ? messages.on : messages.off}</span>
    </div>
  )
}
