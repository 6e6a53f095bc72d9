/** Password, and every one-line secret: what is entered can be shown, what is stored cannot. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../button.tsx'
import { format } from '../../texts/messages.ts'
import { displayDate } from '../model/times.ts'
import { usePage } from '../page-context.ts'
import type { ControlProps } from './control-props.ts'
import { TextField } from './one-line.tsx'

export function SecretControl(props: ControlProps): ComponentChildren {
  const { messages, locale } = usePage()
  const { definition, field, value, draft } = props
  const isUnsaved = draft !== undefined
  const name = definition.displayName
  const [isReplacing, setReplacing] = useState(false)
  const [isShown, setShown] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const isAsked = !isUnsaved && field['aria-invalid'] === true
  const isSet = field.placeholder === messages.secretSet
  const isAtRest = isSet && !isUnsaved && !isReplacing

  // A layout effect: a passive one would come after the user's next key.
  useLayoutEffect(() => {
    if (isReplacing) input.current?.focus()
  }, [isReplacing])

  // What was entered is saved or taken back, or a test asks for it again.
  useLayoutEffect(() => {
    if (isUnsaved) return
    setReplacing(isAsked)
    setShown(false)
  }, [isUnsaved, isAsked])

  if (isAtRest || field.readOnly) {
    const since = value.updatedAt
      ? format(messages.secretSince, { time: displayDate(value.updatedAt, locale) })
      : messages.secretSet
    return (
      <TextField control={props} readOnly value={isSet ? since : messages.secretNotSet}>
        {!field.readOnly && (
          <Button about={name} look="quiet" onClick={() => setReplacing(true)} text={messages.replace} />
        )}
      </TextField>
    )
  }
  return (
    <TextField
      control={props}
      inputRef={input}
      type={isShown ? 'text' : 'password'}
      dir="ltr"
      // Browsers fill saved passwords into anything else.
      autoComplete="new-password"
      onBlur={() => {
        field.onBlur()
        if (field.value === '') setReplacing(false)
      }}
    >
      {field.value && (
        <Button
          about={name}
          look="quiet"
          aria-pressed={isShown}
          onClick={() => setShown(!isShown)}
          text={isShown ? messages.hide : messages.show}
        />
      )}
    </TextField>
  )
}
