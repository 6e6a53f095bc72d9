/** The rows of notes. */
import type { DomainEvent, Events } from '@fastify-modular/core'
import type { Database, Row, Statement } from '../../database/database.ts'
import type { Note } from './note.ts'

/** Which notes, and how many of them. */
interface NotesSelection {
  /** Null: everybody's. */
  readonly owner: string | null
  /** Upper and lower case are the same, outside ASCII only where the database knows them. */
  readonly contains: string
  readonly limit: number
  readonly offset: number
}

/** How long a removed note can be restored: an hour, in ms. */
const undoWindow = 60 * 60 * 1000

export function createNotesStore(database: Database, events: Events) {
  return {
    async add({ id, owner, title, body, isShared, version, createdAt, updatedAt }: Note): Promise<void> {
      await database.query(
        `insert into notes (id, owner, title, body, is_shared, version, created_at, updated_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8)`,
        [id, owner, title, body, Number(isShared), version, Date.parse(createdAt), Date.parse(updatedAt)],
      )
    },
    async find(id: string): Promise<Note | null> {
      if (id.includes('\0')) return null // PostgreSQL has no NUL in text
      return first(await database.query('select * from notes where id = $1 and removed_at is null', [id]))
    },
    /** Newest first, of one owner or of all; with `contains`, those whose title or text contains it. */
    async list({ owner, contains, limit, offset }: NotesSelection): Promise<Note[]> {
      // The database lowers both sides: some know the lower case of ASCII alone, unlike JavaScript.
      const rows = await database.query(
        `select * from notes
        where removed_at is null and ${owner === null ? '$1 = $1' : 'owner = $1'}
          and (lower(title) like lower($2) escape '\\' or lower(body) like lower($2) escape '\\')
        order by created_at desc, id limit $3 offset $4`,
        [owner ?? '', `%${contains.replace(/[\\%_]/g, '\\$&')}%`, limit, offset],
      )
      return rows.map(toNote)
    },
    /** Changes the note if it still has the version; null if it has another one, or is gone. */
    async update(
      note: Note,
      change: Partial<Pick<Note, 'title' | 'body' | 'isShared'>>,
    ): Promise<Note | null> {
      return first(await database.query(...updateOf({ ...note, ...change })))
    },
    /** Makes the note readable for all and publishes the event of it, in one transaction; null as above. */
    async share(note: Note, eventOf: (shared: Note) => DomainEvent): Promise<Note | null> {
      const statement = updateOf({ ...note, isShared: true })
      return first(await database.write([statement], { events, eventOf: (row) => eventOf(toNote(row)) }))
    },
    /** Removes the note, which can be restored for `undoWindow`. */
    async remove(id: string): Promise<void> {
      const now = Date.now()
      await database.write([
        ['delete from notes where removed_at < $1', [now - undoWindow]],
        ['update notes set removed_at = $1 where id = $2 and removed_at is null', [now, id]],
      ])
    },
    /** A removed note that can be restored. */
    async findRemoved(id: string): Promise<Note | null> {
      if (id.includes('\0')) return null
      const since = Date.now() - undoWindow
      return first(
        await database.query('select * from notes where id = $1 and removed_at >= $2', [id, since]),
      )
    },
    /** Puts a removed note back as it was. */
    async restore(id: string): Promise<void> {
      await database.query('update notes set removed_at = null where id = $1', [id])
    },
  }
}

/** The condition on the version makes reading and writing one step: of two writers the second is stale. */
function updateOf({ id, title, body, isShared, version }: Note): Statement {
  return [
    `update notes set title = $1, body = $2, is_shared = $3, version = version + 1, updated_at = $4
    where id = $5 and version = $6 and removed_at is null returning *`,
    [title, body, Number(isShared), Date.now(), id, version],
  ]
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
