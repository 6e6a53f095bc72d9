/** One note, and what can be done with it. */
import type { ReactNode } from 'react'
import type { Note } from '../modules/notes/note.ts'
import { format } from '../texts/texts.ts'
import { Icon } from './drawings.tsx'
import { Ago, Person, SharedPill } from './parts.tsx'
import { useReady, useShared, useTexts } from './shared.ts'

interface NoteCardProps {
  readonly note: Note
  /** The name of its owner. */
  readonly owner: string
  readonly onOpen: () => void
  readonly onRemove: () => void
  readonly onToggleSharing: () => void
}

export function NoteCard({ note, owner, onOpen, onRemove, onToggleSharing }: NoteCardProps): ReactNode {
  const { id, title, body, isShared, updatedAt } = note
  const { app, user } = useShared()
  const texts = useTexts()
  const isReady = useReady()
  const canShare = app?.features.sharing ?? true
  return (
    <li className="card note">
      <h2>
        <button type="button" className="cover" id={`note-${id}`} disabled={!isReady} onClick={onOpen}>
          {title}
        </button>
      </h2>
      <p className="note-text">{body}</p>
      <p className="small row note-about">
        <Ago at={updatedAt} />
        {note.owner === user?.id ? null : <Person id={note.owner} name={owner} />}
        {isShared ? <SharedPill /> : null}
      </p>
      <p className="row note-tools">
        {isShared ? (
          <a
            className="icon-button"
            href={`/api/notes/${encodeURIComponent(id)}/share`}
            aria-label={format(texts.openLink, { title })}
          >
            <Icon name="open" />
          </a>
        ) : null}
        {canShare ? (
          <button
            type="button"
            className="icon-button"
            id={`share-${id}`}
            aria-label={format(isShared ? texts.stopSharing : texts.share, { title })}
            disabled={!isReady}
            onClick={onToggleSharing}
          >
            <Icon name={isShared ? 'unlink' : 'link'} />
          </button>
        ) : null}
        <button
          type="button"
          className="icon-button"
          aria-label={format(texts.remove, { title })}
          disabled={!isReady}
          onClick={onRemove}
        >
          <Icon name="bin" />
        </button>
      </p>
    </li>
  )
}
