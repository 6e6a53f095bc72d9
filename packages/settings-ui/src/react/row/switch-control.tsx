/** Bool: a switch that says its position in words too. */
import type { ReactNode } from 'react'
import { usePage } from '../page/page-context.ts'
import type { ControlProps } from './control-props.ts'

export function SwitchControl({ id, input, isReadOnly, aria, onInput, onBlur }: ControlProps): ReactNode {
  const { messages } = usePage()
  const isOn = input === true
  return (
    <div className="fm-control">
      <input
        {...aria}
        id={id}
        type="checkbox"
        role="switch"
        checked={isOn}
        aria-readonly={isReadOnly || undefined}
        // A checkbox knows no read-only; disabled, it could be neither reached nor read.
        onClick={(event) => isReadOnly && event.preventDefault()}
        onChange={(event) => !isReadOnly && onInput(event.currentTarget.checked)}
        onBlur={onBlur}
      />
      <span aria-hidden="true">{isOn ? messages.on : messages.off}</span>
    </div>
  )
}
