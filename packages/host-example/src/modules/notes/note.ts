/** A note in the API and in the service, and the event that it was shared. */
import { defineEvent } from '@fastify-modular/core'
import { type Static, Type } from '@sinclair/typebox'

// Neither database keeps NUL and lone surrogates as they are.
const text = '[^\\0\\p{Surrogate}]*'
const Title = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: `^${text}[^\\s\\0\\p{Surrogate}]${text}$`,
})
const Body = Type.String({ maxLength: 20_000, pattern: `^${text}$` })

export const Note = Type.Object({
  id: Type.String(),
  owner: Type.String(),
  title: Type.String(),
  body: Type.String(),
  isShared: Type.Boolean(),
  version: Type.Integer({ description: 'Grows by one with every change' }),
  createdAt: Type.String({ format: 'date-time' }),
  updatedAt: Type.String({ format: 'date-time' }),
})
export type Note = Static<typeof Note>

export const NewNote = Type.Object(
  { title: Title, body: Type.Optional(Body) },
  { additionalProperties: false },
)
export type NewNote = Static<typeof NewNote>

export const NoteChange = Type.Object(
  {
    title: Type.Optional(Title),
    body: Type.Optional(Body),
    version: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'The version that the change is based on; a stale one is refused',
      }),
    ),
  },
  { additionalProperties: false },
)
export type NoteChange = Static<typeof NoteChange>

/** What the page's form holds. A title may be blank here, so that the answer can say it in words. */
export const NoteForm = Type.Object(
  {
    title: Type.String({ maxLength: 200, pattern: `^${text}$` }),
    body: Body,
    version: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { additionalProperties: false },
)
export type NoteForm = Static<typeof NoteForm>

/** What strangers see of a shared note. */
export const SharedNote = Type.Pick(Note, ['id', 'owner', 'title', 'body', 'updatedAt'])
export type SharedNote = Static<typeof SharedNote>

/** Published once each time the owner shares the note. */
export class NoteShared extends defineEvent(
  'notes.shared',
  Type.Object({ noteId: Type.String(), owner: Type.String(), title: Type.String() }),
) {}
