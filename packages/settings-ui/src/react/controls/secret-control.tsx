/** Password, and every one-line secret: what is entered can be looked at, what is stored cannot. */
import { type ReactNode, useState } from 'react'
import { usePage } from '../shared/page-context.ts'
import type { ControlProps } from './control-props.ts'
import { QuietButton } from '../shared/quiet-button.tsx'

export function SecretControl({ definition, field }: ControlProps): ReactNode {
  const { messages } = usePage()
  const [isShown, setShown] = useState(false)
  return (
    <div className="fm-control">
      <input
        {...field}
        type={isShown ? 'text' : 'password'}
        dir="ltr"
        // Browsers fill saved passwords into anything else.
        autoComplete="new-password"
      />
      {field.value && (
        <QuietButton about={definition.displayName} isPressed={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? messages.hide : messages.show}
        </QuietButton>
      )}
    </div>
  )
}
