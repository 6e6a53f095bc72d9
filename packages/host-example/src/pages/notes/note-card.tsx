/** One note with what can be done with it. */
import { type ReactNode, useState } from 'react'
import type { Note } from '../../modules/notes/note.ts'
import { callApi } from '../api.ts'
import { NoteForm } from './note-form.tsx'
import { useAction } from './use-action.ts'

export function NoteCard({ note, isOwn }: { note: Note; isOwn: boolean }): ReactNode {
  const [isEditing, setEditing] = useState(false)
  const { isBusy, error, run } = useAction()
  const path = `/api/notes/${encodeURIComponent(note.id)}`

  if (isEditing) {
    return (
      <article className="card" aria-label={`Change ${note.title}`}>
        <NoteForm
          initial={note}
          submitLabel="Save"
          isBusy={isBusy}
          error={error}
          onCancel={() => setEditing(false)}
          onSubmit={async ({ title, body }) => {
            const isSaved = await run(() => callApi('PATCH', path, { title, body, version: note.version }))
            if (isSaved) setEditing(false)
            return isSaved
          }}
        />
      </article>
    )
  }
  return (
    <article className="card note">
      <header>
        <h2>{note.title}</h2>
        {isOwn ? null : <span className="badge">{note.owner}</span>}
        {note.isShared ? <span className="badge accent">Shared</span> : null}
      </header>
      <p className="text">{note.body}</p>
      <p className="muted">
        Changed <time dateTime={note.updatedAt}>{new Date(note.updatedAt).toLocaleString()}</time>
      </p>
      {error ? (
        <p className="alert" role="alert">
          {error}
        </p>
      ) : null}
      <p className="actions">
        <button type="button" disabled={isBusy} onClick={() => setEditing(true)}>
          Change
        </button>
        <button
          type="button"
          disabled={isBusy}
          onClick={() => void run(() => callApi(note.isShared ? 'DELETE' : 'POST', `${path}/share`))}
        >
          {note.isShared ? 'Stop sharing' : 'Share'}
        </button>
        {note.isShared ? <a href={`${path}/share`}>Public link</a> : null}
        <button
          type="button"
          className="danger"
          disabled={isBusy}
          onClick={() => void run(() => callApi('DELETE', path))}
        >
          Remove
        </button>
      </p>
    </article>
  )
}
