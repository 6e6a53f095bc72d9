/** Password, and every one-line secret: what is entered can be looked at, what is stored cannot. */
import { type ReactNode, useState } from 'react'
import { usePage } from '../page/page-context.ts'
import type { ControlProps } from './control-props.ts'

export function SecretControl(props: ControlProps): ReactNode {
  const { definition, id, input, isSet, isReadOnly, aria, onInput, onBlur } = props
  const { messages } = usePage()
  const [isShown, setShown] = useState(false)
  const secret = isSet ? messages.secretSet : messages.secretNotSet
  return (
    <div className="fm-control">
      <input
        {...aria}
        id={id}
        type={isShown ? 'text' : 'password'}
        dir="ltr"
        value={String(input)}
        placeholder={definition.sensitive ? secret : (definition.placeholder ?? undefined)}
        required={definition.required && !(definition.sensitive && isSet)}
        readOnly={isReadOnly}
        // Browsers fill saved passwords into anything else.
        autoComplete="new-password"
        spellCheck="false"
        onInput={(event) => onInput(event.currentTarget.value)}
        onBlur={onBlur}
      />
      {input !== '' && (
        <button type="button" className="fm-quiet" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? messages.hide : messages.show}
          <span className="fm-hidden"> {definition.displayName}</span>
        </button>
      )}
    </div>
  )
}
