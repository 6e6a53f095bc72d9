/** What may be done with notes, and by whom. */
import { randomUUID } from 'node:crypto'
import {
  type Caller,
  ConflictException,
  type Events,
  ForbiddenException,
  NotFoundException,
} from '@fastify-modular/core'
import type { Database } from '../../database/database.ts'
import { type NewNote, type Note, type NoteChange, NoteShared, type SharedNote } from './note.ts'
import { createNotesStore } from './notes-store.ts'

export const notesPerPage = 100

export type NotesService = ReturnType<typeof createNotesService>

/**
 * The rules of notes: their owner and administrators may do everything with them, others nothing but read shared ones.
 * Methods throw `NotFoundException`, `ForbiddenException`, and `ConflictException` when the version is stale.
 */
export function createNotesService(database: Database, events: Events) {
  const store = createNotesStore(database, events)

  async function get(caller: Caller, id: string): Promise<Note> {
    return usableBy(caller, id, await store.find(id))
  }

  return {
    get,
    /** Adds a note that belongs to the caller. */
    async add(caller: Caller, { title, body = '' }: NewNote): Promise<Note> {
      const createdAt = new Date(Date.now()).toISOString()
      const times = { createdAt, updatedAt: createdAt }
      const note = { id: randomUUID(), owner: caller.id, title, body, isShared: false, version: 1, ...times }
      await store.add(note)
      return note
    },
    /** The caller's notes, newest first; everybody's for an administrator. `page` counts from 1; `contains` is searched for. */
    list: (caller: Caller, page = 1, contains = ''): Promise<Note[]> =>
      store.list({
        owner: caller.isAdmin ? null : caller.id,
        contains,
        limit: notesPerPage,
        offset: (page - 1) * notesPerPage,
      }),
    async change(caller: Caller, id: string, { version, ...change }: NoteChange): Promise<Note> {
      const note = await get(caller, id)
      if (version !== undefined && version !== note.version) stale(note)
      return (await store.update(note, change)) ?? stale(note)
    },
    async remove(caller: Caller, id: string): Promise<void> {
      await get(caller, id)
      await store.remove(id)
    },
    /** Undoes a removal, for an hour: the note is as it was, its public link included. */
    async restore(caller: Caller, id: string): Promise<Note> {
      const note = usableBy(caller, id, await store.findRemoved(id))
      await store.restore(id)
      return note
    },
    /** Makes a note readable for everybody who knows its address; `NoteShared` tells the other modules. */
    async share(caller: Caller, id: string): Promise<Note> {
      const note = await get(caller, id)
      if (note.isShared) return note
      const eventOf = ({ owner, title }: Note) => new NoteShared({ noteId: id, owner, title })
      return (await store.share(note, eventOf)) ?? stale(note)
    },
    async stopSharing(caller: Caller, id: string): Promise<void> {
      const note = await get(caller, id)
      if (note.isShared && !(await store.update(note, { isShared: false }))) stale(note)
    },
    /** For anybody. A note that is not shared is as unknown as one that does not exist. */
    async readShared(id: string): Promise<SharedNote> {
      const note = await store.find(id)
      if (!note?.isShared) throw new NotFoundException('Shared note', id)
      const { owner, title, body, updatedAt } = note
      return { id: note.id, owner, title, body, updatedAt }
    },
  }
}

function usableBy(caller: Caller, id: string, note: Note | null): Note {
  if (!note) throw new NotFoundException('Note', id)
  if (note.owner !== caller.id && !caller.isAdmin) {
    throw new ForbiddenException('Only its owner and administrators may use this note.')
  }
  return note
}

function stale(note: Note): never {
  throw new ConflictException('The note was changed meanwhile. Read it again and repeat your change.', {
    currentVersion: note.version,
  })
}
