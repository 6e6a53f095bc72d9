/** The notes of the caller. */
import { Link, usePage } from '@inertiajs/react'
import { type ReactNode, useState } from 'react'
import type { Note } from '../modules/notes/note.ts'
import { callApi } from './api.ts'
import { Layout, useSharedProps } from './layout.tsx'
import { NoteForm, useAction } from './note-form.tsx'

export function NotesPage(): ReactNode {
  const { notes, page, perPage } = usePage<{ notes: Note[]; page: number; perPage: number }>().props
  const { user } = useSharedProps()
  const { isBusy, error, run } = useAction()
  return (
    <Layout title="Notes">
      <h1>{user?.isAdmin ? 'All notes' : 'Your notes'}</h1>
      <section className="card" aria-labelledby="add-note">
        <h2 id="add-note">Write a note</h2>
        <NoteForm
          submitLabel="Add note"
          isBusy={isBusy}
          error={error}
          onSubmit={(text) => run(() => callApi('POST', '/api/notes', text))}
        />
      </section>
      {notes.length === 0 ? <p className="muted">There are no notes yet.</p> : null}
      {notes.map((note) => (
        <NoteCard key={note.id} note={note} isOwn={note.owner === user?.name} />
      ))}
      <nav className="actions" aria-label="Pages">
        {page > 1 ? <Link href={`/notes?page=${page - 1}`}>Newer notes</Link> : null}
        {notes.length === perPage ? <Link href={`/notes?page=${page + 1}`}>Older notes</Link> : null}
      </nav>
    </Layout>
  )
}

/** One note, and what can be done with it. */
function NoteCard({ note, isOwn }: { note: Note; isOwn: boolean }): ReactNode {
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
