/** The notes of the caller: the list first; writing happens in a dialog, removing can be undone. */
import { Link, router, usePage } from '@inertiajs/react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { Note } from '../modules/notes/note.ts'
import { format, plural, type Texts } from '../texts/texts.ts'
import { callApi } from './api.ts'
import { Icon } from './drawings.tsx'
import { Layout } from './layout.tsx'
import { NoteCard } from './note-card.tsx'
import { NoteDialog } from './note-dialog.tsx'
import { Head } from './parts.tsx'
import { useReady, useShared, useTexts } from './shared.ts'
import { type News, Toast } from './toast.tsx'

interface NotesProps {
  readonly notes: readonly Note[]
  /** Names of people by the ids of their accounts. */
  readonly people: Readonly<Record<string, string>>
  readonly query: string
  readonly page: number
  readonly perPage: number
  readonly [prop: string]: unknown
}

const pathOf = ({ id }: Note): string => `/api/notes/${encodeURIComponent(id)}`

/** Focus goes to this element after the next change: a card, or `new-note`. */
const cardId = (id: string): string => `note-${id}`

export function NotesPage(): ReactNode {
  const { notes, people, query, page, perPage } = usePage<NotesProps>().props
  const { app } = useShared()
  const texts = useTexts()
  const isReady = useReady()
  const [news, setNews] = useState<News | null>(null)
  const [open, setOpen] = useState<Note | 'new' | null>(null)
  const focusNext = useRef<string | null>(null)

  useEffect(() => {
    const openNew = (): void => {
      if (window.location.hash === '#new') setOpen('new') // which the server does not see
    }
    openNew()
    addEventListener('hashchange', openNew)
    return () => removeEventListener('hashchange', openNew)
  }, [])

  useEffect(() => {
    if (focusNext.current === null || open !== null) return // nothing behind an open dialog takes the focus
    document.getElementById(focusNext.current)?.focus()
    focusNext.current = null
  }, [notes, open])

  /** Makes a change, reads the notes again, then moves the focus and says what happened, or what went wrong. */
  async function act(method: string, path: string, done: News, nextFocus: string): Promise<void> {
    const problem = await callApi(texts, method, path)
    if (problem !== null) return setNews({ text: problem, isBad: true })
    focusNext.current = nextFocus
    await reloadNotes()
    setNews(done)
  }

  function finish(id: string, message: string): void {
    focusNext.current = cardId(id)
    setNews({ text: message })
    setOpen(null)
  }

  function cancel(): void {
    if (open === null) return
    focusNext.current = open === 'new' ? 'new-note' : cardId(open.id)
    setOpen(null)
  }

  function remove(note: Note): void {
    const index = notes.findIndex(({ id }) => id === note.id)
    const next = notes[index + 1] ?? notes[index - 1]
    const onUndo = (): void =>
      void act(
        'POST',
        `${pathOf(note)}/restore`,
        { text: format(texts.restored, { title: note.title }) },
        cardId(note.id),
      )
    const done = { text: format(texts.removed, { title: note.title }), onUndo }
    void act('DELETE', pathOf(note), done, next ? cardId(next.id) : 'new-note')
  }

  function toggleSharing(note: Note): void {
    const { id, title, isShared } = note
    const done = { text: format(isShared ? texts.isPrivate : texts.isShared, { title }) }
    void act(isShared ? 'DELETE' : 'POST', `${pathOf(note)}/share`, done, `share-${id}`)
  }

  return (
    <Layout title={texts.notes}>
      <main className="page" id="main" tabIndex={-1}>
        <Head title={texts.notes} lead={notes.length === perPage || page > 1 ? null : counted(texts, notes)}>
          {app?.features.search ? <Search query={query} /> : null}
          <button
            id="new-note"
            className="button primary"
            type="button"
            disabled={!isReady}
            onClick={() => setOpen('new')}
          >
            <Icon name="plus" />
            {texts.newNote}
          </button>
        </Head>
        {notes.length === 0 ? (
          <p className="empty">
            {query === '' ? texts.noNotes : format(texts.noMatches, { query })}
            {query === '' ? null : <Link href="/notes">{texts.showAll}</Link>}
          </p>
        ) : null}
        <ul className="notes">
          {notes.map((note) => (
            <NoteCard
              key={note.id}
              note={note}
              owner={people[note.owner] ?? note.owner}
              onOpen={() => setOpen(note)}
              onRemove={() => remove(note)}
              onToggleSharing={() => toggleSharing(note)}
            />
          ))}
        </ul>
        <Pages isLast={notes.length < perPage} page={page} query={query} />
        {open === null ? null : (
          <NoteDialog
            key={open === 'new' ? 'new' : open.id}
            note={open === 'new' ? null : open}
            onSaved={finish}
            onCancel={cancel}
          />
        )}
      </main>
      <Toast news={news} onDismiss={() => setNews(null)} />
    </Layout>
  )
}

/** `5 notes, 2 shared` */
function counted(texts: Texts, notes: readonly Note[]): string {
  const shared = notes.filter(({ isShared }) => isShared).length
  const more = shared > 0 ? format(texts.countedShared, { count: shared }) : ''
  return plural(texts.counted, notes.length) + more
}

function reloadNotes(): Promise<void> {
  return new Promise((resolve) => router.reload({ only: ['notes', 'people'], onFinish: () => resolve() }))
}

function Search({ query }: { query: string }): ReactNode {
  const texts = useTexts()
  return (
    <form
      role="search"
      className="find"
      action="/notes"
      onSubmit={(event) => {
        event.preventDefault()
        const q = new FormData(event.currentTarget).get('q')
        router.get('/notes', typeof q === 'string' && q !== '' ? { q } : {}, { preserveState: true })
      }}
    >
      <span className="field row with-button">
        <Icon name="search" />
        <input
          key={query}
          type="search"
          name="q"
          defaultValue={query}
          maxLength={100}
          aria-label={texts.searchNotes}
          placeholder={texts.searchNotes}
        />
      </span>
    </form>
  )
}

function Pages({ page, query, isLast }: { page: number; query: string; isLast: boolean }): ReactNode {
  const texts = useTexts()
  if (page === 1 && isLast) return null
  const href = (to: number): string =>
    `/notes?${new URLSearchParams({ page: String(to), ...(query !== '' && { q: query }) })}`
  return (
    <nav className="row actions" aria-label={texts.pages}>
      {page > 1 ? <Link href={href(page - 1)}>{texts.newer}</Link> : null}
      {isLast ? null : <Link href={href(page + 1)}>{texts.older}</Link>}
    </nav>
  )
}
