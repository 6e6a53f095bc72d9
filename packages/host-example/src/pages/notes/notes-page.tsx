/** The notes of whoever is signed in. */
import { Link, usePage } from '@inertiajs/react'
import type { ReactNode } from 'react'
import type { Note } from '../../modules/notes/note.ts'
import { callApi } from '../api.ts'
import { Layout } from '../layout.tsx'
import { useSharedProps } from '../shared-props.ts'
import { NoteCard } from './note-card.tsx'
import { NoteForm } from './note-form.tsx'
import { useAction } from './use-action.ts'

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
