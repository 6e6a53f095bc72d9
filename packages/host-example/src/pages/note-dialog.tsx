/** Title and text of a note in a dialog: to add one or to change one. */
import { useForm } from '@inertiajs/react'
import { type ReactNode, useEffect, useId, useRef } from 'react'
import type { Note } from '../modules/notes/note.ts'
import { Icon } from './drawings.tsx'
import { useTexts } from './shared.ts'

interface NoteDialogProps {
  /** The note to change; null for a new one. */
  readonly note: Note | null
  /** Called when it is saved, with its id and what to say of it. */
  readonly onSaved: (id: string, message: string) => void
  /** Called once the dialog is closed without saving. */
  readonly onCancel: () => void
}

export function NoteDialog({ note, onSaved, onCancel }: NoteDialogProps): ReactNode {
  const texts = useTexts()
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const form = useForm({ title: note?.title ?? '', body: note?.body ?? '', form: '' })
  const first = useRef<HTMLInputElement>(null)
  const { title: titleError, ...errors } = form.errors
  const failure = Object.values(errors)[0]
  useEffect(() => {
    dialog.current?.showModal()
    first.current?.focus() // a dialog focuses its first button
  }, [])

  function submit(): void {
    form.transform(({ title, body }) => ({ title, body, ...(note && { version: note.version }) }))
    const say = (text: string) => () => {
      form.setError('form', text)
      return false as const // no error page in place of what was typed
    }
    form.submit(note ? 'patch' : 'post', note ? `/notes/${encodeURIComponent(note.id)}` : '/notes', {
      only: ['notes', 'people'],
      preserveScroll: true,
      onFlash: ({ note, message }) => onSaved(String(note), String(message)),
      onHttpException: say(texts.failed),
      onNetworkError: say(texts.unreachable),
    })
  }

  return (
    <dialog className="dialog" ref={dialog} aria-labelledby={`${id}-heading`} onClose={onCancel}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!form.processing) submit()
        }}
      >
        <header className="row">
          <h2 id={`${id}-heading`}>{note ? texts.changeNote : texts.newNote}</h2>
          <button
            type="button"
            className="icon-button"
            aria-label={texts.cancel}
            onClick={() => dialog.current?.close()}
          >
            <Icon name="close" />
          </button>
        </header>
        {failure === undefined ? null : (
          <p className="alert" role="alert">
            {failure}
          </p>
        )}
        <label htmlFor={`${id}-title`}>{texts.title}</label>
        <input
          className="field"
          id={`${id}-title`}
          value={form.data.title}
          required
          aria-invalid={titleError !== undefined}
          aria-describedby={titleError === undefined ? undefined : `${id}-title-error`}
          maxLength={200}
          ref={first}
          onChange={(event) => form.setData('title', event.target.value)}
        />
        {titleError === undefined ? null : (
          <p className="alert" role="alert" id={`${id}-title-error`}>
            {titleError}
          </p>
        )}
        <label htmlFor={`${id}-body`}>{texts.text}</label>
        <textarea
          className="field"
          id={`${id}-body`}
          value={form.data.body}
          rows={7}
          maxLength={20_000}
          onChange={(event) => form.setData('body', event.target.value)}
        />
        <footer className="row">
          <button type="button" className="button" onClick={() => dialog.current?.close()}>
            {texts.cancel}
          </button>
          <button type="submit" className="button primary" aria-disabled={form.processing}>
            {note ? texts.save : texts.addNote}
          </button>
        </footer>
      </form>
    </dialog>
  )
}
