/** The rows of notes. */
import type { DomainEvent, Events } from '@fastify-modular/core'
import { type SQL, sql } from 'drizzle-orm'
import type { Database, Row } from '../../database/database.ts'
import type { Note, NoteChange } from './note.ts'

export interface NotesStore {
  add(note: Note): Promise<void>
  find(id: string): Promise<Note | null>
  /** Newest first, of one owner or of all. */
  list(owner: string | null, limit: number, offset: number): Promise<Note[]>
  /** Changes the note if it still has the version; null if it has another one, or is gone. */
  update(
    note: Note,
    change: Omit<NoteChange, 'version'> & { readonly isShared?: boolean },
  ): Promise<Note | null>
  /** Makes the note readable for all and publishes the event of it, in one transaction; null as above. */
  share(note: Note, eventOf: (shared: Note) => DomainEvent): Promise<Note | null>
  remove(id: string): Promise<boolean>
}

export function createNotesStore(database: Database, events: Events): NotesStore {
  return {
    async add({ id, owner, title, body, isShared, version, createdAt, updatedAt }) {
      await database.run(sql`
        insert into notes (id, owner, title, body, is_shared, version, created_at, updated_at)
        values (${id}, ${owner}, ${title}, ${body}, ${Number(isShared)}, ${version},
          ${Date.parse(createdAt)}, ${Date.parse(updatedAt)})`)
    },
    async find(id) {
      if (id.includes('\0')) return null // PostgreSQL has no NUL in text
      return first(await database.rows(sql`select * from notes where id = ${id}`))
    },
    async list(owner, limit, offset) {
      const ofOwner: SQL = owner === null ? sql`` : sql`where owner = ${owner}`
      const rows = await database.rows(
        sql`select * from notes ${ofOwner} order by created_at desc, id limit ${limit} offset ${offset}`,
      )
      return rows.map(toNote)
    },
    async update(note, change) {
      return first(await database.rows(updateOf({ ...note, ...change })))
    },
    async share(note, eventOf) {
      const statement = updateOf({ ...note, isShared: true })
      return first(await database.publishing(statement, events, (row) => eventOf(toNote(row))))
    },
    async remove(id) {
      return (await database.rows(sql`delete from notes where id = ${id} returning id`)).length > 0
    },
  }
}

/** The condition on the version makes reading and writing one step: of two writers the second is stale. */
function updateOf({ id, title, body, isShared, version }: Note): SQL {
  return sql`
    update notes set title = ${title}, body = ${body}, is_shared = ${Number(isShared)},
      version = version + 1, updated_at = ${Date.now()}
    where id = ${id} and version = ${version} returning *`
}

function first([row]: readonly Row[]): Note | null {
  return row ? toNote(row) : null
}

function toNote(row: Row): Note {
  return {
    id: String(row['id']),
    owner: String(row['owner']),
    title: String(row['title']),
    body: String(row['body']),
    isShared: Number(row['is_shared']) === 1,
    version: Number(row['version']),
    createdAt: new Date(Number(row['created_at'])).toISOString(),
    updatedAt: new Date(Number(row['updated_at'])).toISOString(),
  }
}
