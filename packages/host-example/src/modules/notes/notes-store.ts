/** The rows of notes. */
import type { DomainEvent, Events } from '@fastify-modular/core'
import { type SQL, sql } from 'drizzle-orm'
import type { Database, Row } from '../../database/database.ts'
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

const columns = sql.raw('id, owner, title, body, is_shared, version, created_at, updated_at')

export type NotesStore = ReturnType<typeof createNotesStore>

export function createNotesStore(database: Database, events: Events) {
  return {
    async add({ id, owner, title, body, isShared, version, createdAt, updatedAt }: Note): Promise<void> {
      await database.run(sql`
        insert into notes (${columns})
        values (${id}, ${owner}, ${title}, ${body}, ${Number(isShared)}, ${version},
          ${Date.parse(createdAt)}, ${Date.parse(updatedAt)})`)
    },
    async find(id: string): Promise<Note | null> {
      if (id.includes('\0')) return null // PostgreSQL has no NUL in text
      return first(await database.rows(sql`select * from notes where id = ${id}`))
    },
    /** Newest first, of one owner or of all; with `contains`, those whose title or text contains it. */
    async list({ owner, contains, limit, offset }: NotesSelection): Promise<Note[]> {
      const ofOwner: SQL = owner === null ? sql`` : sql`and owner = ${owner}`
      const rows = await database.rows(sql`
        select * from notes where true ${ofOwner} ${containing(contains)}
        order by created_at desc, id limit ${limit} offset ${offset}`)
      return rows.map(toNote)
    },
    /** Changes the note if it still has the version; null if it has another one, or is gone. */
    async update(
      note: Note,
      change: Partial<Pick<Note, 'title' | 'body' | 'isShared'>>,
    ): Promise<Note | null> {
      return first(await database.rows(updateOf({ ...note, ...change })))
    },
    /** Makes the note readable for all and publishes the event of it, in one transaction; null as above. */
    async share(note: Note, eventOf: (shared: Note) => DomainEvent): Promise<Note | null> {
      const statement = updateOf({ ...note, isShared: true })
      return first(await database.publishing(statement, events, (row) => eventOf(toNote(row))))
    },
    /** Removes the note, which can be restored for `undoWindow`. */
    async remove(id: string): Promise<void> {
      const now = Date.now()
      await database.runAll([
        sql`delete from removed_notes where removed_at < ${now - undoWindow}`,
        sql`insert into removed_notes (${columns}, removed_at)
          select ${columns}, cast(${now} as bigint) from notes where id = ${id} on conflict (id) do nothing`,
        sql`delete from notes where id = ${id}`,
      ])
    },
    /** A removed note that can be restored. */
    async findRemoved(id: string): Promise<Note | null> {
      if (id.includes('\0')) return null
      const since = Date.now() - undoWindow
      return first(
        await database.rows(sql`select * from removed_notes where id = ${id} and removed_at >= ${since}`),
      )
    },
    /** Puts a removed note back as it was. */
    async restore(id: string): Promise<void> {
      await database.runAll([
        sql`insert into notes (${columns}) select ${columns} from removed_notes where id = ${id}
          on conflict (id) do nothing`,
        sql`delete from removed_notes where id = ${id}`,
      ])
    },
  }
}

/** The database lowers both sides: some know the lower case of ASCII alone, unlike JavaScript. */
function containing(text: string): SQL {
  if (text === '') return sql``
  const pattern = sql`lower(${`%${text.replace(/[\\%_]/g, '\\$&')}%`}) escape '\\'`
  return sql`and (lower(title) like ${pattern} or lower(body) like ${pattern})`
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
