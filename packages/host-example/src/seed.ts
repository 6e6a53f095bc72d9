/**
 * Writes a week in the life of the example, so that its first visitor sees people at work instead of emptiness: a program of
 * its own, which ends before the application starts. It does nothing where a setting was changed or a note written, or where
 * there are no demo accounts.
 */
import { randomUUID } from 'node:crypto'
import { createApp } from './app.ts'
import { readConfig } from './config.ts'
import { openDatabase } from './database/open-database.ts'
import { createNotesStore } from './modules/notes/notes-store.ts'

const hour = 60 * 60 * 1000

interface WrittenNote {
  readonly hoursAgo: number
  readonly owner: string
  readonly title: string
  readonly body: string
  readonly isShared?: boolean
}

const notes: readonly WrittenNote[] = [
  {
    hoursAgo: 161,
    owner: 'admin',
    title: 'Who does what',
    body: 'Eli changes the settings, I keep the server, everybody writes.',
  },
  {
    hoursAgo: 140,
    owner: 'bob',
    title: 'Bread, again',
    body: '500 g flour, 350 g water, 10 g salt. Cold overnight. Less water next time.',
  },
  {
    hoursAgo: 114,
    owner: 'alice',
    title: 'Names for the cat',
    body: 'Biscuit. Admiral. Small Tuesday. (Small Tuesday is winning.)',
    isShared: true,
  },
  {
    hoursAgo: 47,
    owner: 'editor',
    title: 'Questions for Thursday',
    body: 'Who signs off the winter issue? Do we keep two columns?',
    isShared: true,
  },
  {
    hoursAgo: 22,
    owner: 'alice',
    title: 'Harbour walk',
    body: 'Low tide at 7:40. Bring boots, the flask, and the long lens for the herons.',
  },
]

interface Change {
  readonly hoursAgo: number
  readonly actor: string
  readonly key: string
  readonly value: string | boolean
  readonly note?: string
  /** A preference of the actor's own. */
  readonly isOwn?: boolean
}

const changes: readonly Change[] = [
  { hoursAgo: 163, actor: 'admin', key: 'app.title', value: 'Acme Notes', note: 'Our own name' },
  { hoursAgo: 162, actor: 'admin', key: 'app.logo', value: 'leaf' },
  { hoursAgo: 138, actor: 'bob', key: 'app.theme', value: 'dark', isOwn: true },
  { hoursAgo: 116, actor: 'editor', key: 'app.banner', value: 'Welcome! Write your first note.' },
  { hoursAgo: 92, actor: 'admin', key: 'system.maintenance_mode', value: true, note: 'A larger disk' },
  { hoursAgo: 91, actor: 'admin', key: 'system.maintenance_mode', value: false },
  { hoursAgo: 69, actor: 'editor', key: 'app.primary_color', value: '#0f766e', note: 'Like the leaf' },
  { hoursAgo: 66, actor: 'alice', key: 'user.preferred_density', value: 'compact', isOwn: true },
  { hoursAgo: 45, actor: 'editor', key: 'app.launch_at', value: launch() },
  { hoursAgo: 24, actor: 'admin', key: 'app.support_email', value: 'help@acme.example' },
  { hoursAgo: 4, actor: 'admin', key: 'app.homepage_url', value: 'https://acme.example' },
  { hoursAgo: 1, actor: 'editor', key: 'app.banner', value: 'The winter issue is out on Thursday.' },
]

/** The third Tuesday from now, at nine. */
function launch(): string {
  const date = new Date()
  date.setUTCDate(date.getUTCDate() + 21 - ((date.getUTCDay() + 5) % 7))
  date.setUTCHours(9, 0, 0, 0)
  return date.toISOString()
}

async function seed(): Promise<void> {
  const config = readConfig(process.env)
  if (config.accounts.kind !== 'demo') return
  const app = await createApp({ ...config, logLevel: 'silent' })
  const database = await openDatabase(config.database, () => {})
  const { now } = Date
  try {
    const store = createNotesStore(database, app.events)
    const existing = await store.list({ owner: null, contains: '', limit: 1, offset: 0 })
    if (existing.length > 0 || app.settings.status.revision > 0) return
    for (const { hoursAgo, isShared = false, ...note } of notes) {
      const createdAt = new Date(Date.now() - hoursAgo * hour).toISOString()
      await store.add({ id: randomUUID(), ...note, isShared, version: 1, createdAt, updatedAt: createdAt })
    }
    for (const { hoursAgo, actor, key, value, note, isOwn } of changes) {
      // SQLite takes the time from this process, which serves nobody. PostgreSQL has a clock of its own: there, all is of now.
      Date.now = () => now() - hoursAgo * hour
      const options = { actor, ...(isOwn && { userId: actor }), ...(note !== undefined && { note }) }
      await app.settings.set(key, value, options)
    }
  } finally {
    Date.now = now
    await database.close()
    await app.close()
  }
}

await seed()
