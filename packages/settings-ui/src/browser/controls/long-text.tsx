/** Controls of several lines: text, and JSON with numbered lines. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Button } from '../button.tsx'
import { format } from '../../texts/messages.ts'
import { findJsonError } from '../model/input.ts'
import { usePage } from '../page-context.ts'
import { treeOf } from '../tree.ts'
import type { ControlProps } from './control-props.ts'

export function LongTextControl({ definition, field }: ControlProps): ComponentChildren {
  return (
    <textarea
      {...field}
      dir="auto"
      rows={3} // where style sheets cannot make it as high as its content
      spellcheck={!definition.sensitive}
    />
  )
}

/** Milliseconds without a key after which broken JSON is pointed out. */
const pause = 300

/** JSON: its lines are numbered, the one that is broken is marked; Tab leaves the field. */
export function CodeControl({ definition, field, onInput }: ControlProps): ComponentChildren {
  const { messages } = usePage()
  const area = useRef<HTMLTextAreaElement>(null)
  const { value, readOnly, onBlur } = field
  const isInvalid = field['aria-invalid'] === true
  const error = isInvalid ? findJsonError(value) : null

  useEffect(() => {
    const isFocused = treeOf(area.current).activeElement === area.current
    if (readOnly || isInvalid || !isFocused) return undefined
    // Preferences are saved by what follows: what means something is left until the user leaves it.
    const timer = setTimeout(() => value.trim() && findJsonError(value) && onBlur(), pause)
    return () => clearTimeout(timer)
  }, [value])

  function tidy(): void {
    try {
      onInput(JSON.stringify(JSON.parse(value), null, 2))
    } catch {
      onBlur() // says where it is broken
    }
    area.current?.focus()
  }

  function goToError(): void {
    area.current?.focus()
    if (error) area.current?.setSelectionRange(error.offset, error.offset)
  }

  return (
    <>
      <div className="fm-code">
        <ol aria-hidden="true">
          {value.split('\n').map((_line, index) => (
            <li key={index} className={error?.line === index + 1 ? 'is-bad' : undefined} />
          ))}
        </ol>
        <textarea {...field} ref={area} rows={4} spellcheck={false} dir="ltr" wrap="off" />
      </div>
      {!readOnly && (
        <div className="fm-code-tools fm-line">
          {error && (
            <Button look="link" onClick={goToError} text={format(messages.goToLine, { line: error.line })} />
          )}
          <Button about={definition.displayName} look="link" onClick={tidy} text={messages.formatJson} />
        </div>
      )}
    </>
  )
}
