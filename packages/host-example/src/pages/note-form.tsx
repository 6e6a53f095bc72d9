/** Title and text of a note, to add one or to change one, and the change itself. */
import { router } from '@inertiajs/react'
import { type ReactNode, useId, useState } from 'react'
import { ApiError } from './api.ts'

interface NoteText {
  readonly title: string
  readonly body: string
}

interface NoteFormProps {
  readonly initial?: NoteText
  readonly submitLabel: string
  readonly isBusy: boolean
  readonly error: string | null
  /** Resolves with whether the text was saved; a form to add notes is emptied then. */
  readonly onSubmit: (text: NoteText) => Promise<boolean>
  readonly onCancel?: () => void
}

const empty: NoteText = { title: '', body: '' }

export function NoteForm({
  initial = empty,
  submitLabel,
  isBusy,
  error,
  onSubmit,
  onCancel,
}: NoteFormProps): ReactNode {
  const [text, setText] = useState(initial)
  const id = useId()

  async function submit(): Promise<void> {
    if (await onSubmit(text)) setText(initial)
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <label htmlFor={`${id}-title`}>Title</label>
      <input
        id={`${id}-title`}
        value={text.title}
        required
        maxLength={200}
        onChange={(event) => setText({ ...text, title: event.target.value })}
      />
      <label htmlFor={`${id}-body`}>Text</label>
      <textarea
        id={`${id}-body`}
        value={text.body}
        rows={4}
        maxLength={20_000}
        onChange={(event) => setText({ ...text, body: event.target.value })}
      />
      {error ? (
        <p className="alert" role="alert">
          {error}
        </p>
      ) : null}
      <p className="actions">
        <button type="submit" className="primary" disabled={isBusy}>
          {submitLabel}
        </button>
        {onCancel ? (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        ) : null}
      </p>
    </form>
  )
}

interface Action {
  readonly isBusy: boolean
  readonly error: string | null
  /** Runs the change, then reads the notes again. Resolves with whether it succeeded. */
  run(change: () => Promise<unknown>): Promise<boolean>
}

/** One change at a time, with its failure in words. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)

  async function run(change: () => Promise<unknown>): Promise<boolean> {
    setBusy(true)
    setError(null)
    try {
      await change()
      router.reload({ only: ['notes'] })
      return true
    } catch (failure) {
      setError(failure instanceof ApiError ? failure.message : 'That did not work. Please try again.')
      return false
    } finally {
      setBusy(false)
    }
  }

  return { isBusy, error, run }
}
