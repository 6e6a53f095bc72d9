/** Title and text of a note in a dialog: to add one or to change one. */
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { Icon } from './drawings.tsx'
import { useTexts } from './shared.ts'

export interface NoteText {
  readonly title: string
  readonly body: string
}

interface NoteDialogProps {
  readonly heading: string
  readonly submitLabel: string
  readonly initial: NoteText
  /** Saves the text and closes the dialog; returns what went wrong in words, or null. What was typed stays. */
  readonly onSubmit: (text: NoteText) => Promise<string | null>
  /** Called once the dialog is closed without saving. */
  readonly onCancel: () => void
}

export function NoteDialog({
  heading,
  submitLabel,
  initial,
  onSubmit,
  onCancel,
}: NoteDialogProps): ReactNode {
  const texts = useTexts()
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState(initial)
  const [error, setError] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const first = useRef<HTMLInputElement>(null)
  useEffect(() => {
    dialog.current?.showModal()
    first.current?.focus() // a dialog focuses its first button
  }, [])

  async function submit(): Promise<void> {
    setBusy(true)
    setError(await onSubmit(text))
    setBusy(false)
  }

  return (
    <dialog className="dialog" ref={dialog} aria-labelledby={`${id}-heading`} onClose={onCancel}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy) void submit()
        }}
      >
        <header>
          <h2 id={`${id}-heading`}>{heading}</h2>
          <button
            type="button"
            className="icon-button"
            aria-label={texts.cancel}
            onClick={() => dialog.current?.close()}
          >
            <Icon name="close" />
          </button>
        </header>
        {error === null ? null : (
          <p className="alert" role="alert">
            {error}
          </p>
        )}
        <label htmlFor={`${id}-title`}>{texts.title}</label>
        <input
          className="field"
          id={`${id}-title`}
          value={text.title}
          required
          maxLength={200}
          ref={first}
          onChange={(event) => setText({ ...text, title: event.target.value })}
        />
        <label htmlFor={`${id}-body`}>{texts.text}</label>
        <textarea
          className="field"
          id={`${id}-body`}
          value={text.body}
          rows={7}
          maxLength={20_000}
          onChange={(event) => setText({ ...text, body: event.target.value })}
        />
        <footer>
          <button type="button" className="button" onClick={() => dialog.current?.close()}>
            {texts.cancel}
          </button>
          <button type="submit" className="button primary" aria-disabled={isBusy}>
            {submitLabel}
          </button>
        </footer>
      </form>
    </dialog>
  )
}
