/**
 * Writes a week in the life of the example, so that its first visitor sees people at work instead of emptiness: a program of
 * its own, which ends before the application starts. It does nothing where a setting was changed or a note written, or where
 * there are no demo accounts.
 */
import { randomUUID } from 'node:crypto'
import { createApp } from './app.ts'
import { fail, readConfig } from './config.ts'
import { openDatabase } from './database/open-database.ts'
import { createNotesStore } from './modules/notes/notes-store.ts'
import week from './seed.json' with { type: 'json' }

const hour = 60 * 60 * 1000

/** The third Tuesday from now, at nine: data cannot say it. */
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
    for (const { hoursAgo, isShared = false, ...note } of week.notes) {
      const createdAt = new Date(Date.now() - hoursAgo * hour).toISOString()
      await store.add({ id: randomUUID(), ...note, isShared, version: 1, createdAt, updatedAt: createdAt })
    }
    for (const { hoursAgo, actor, key, value = launch(), note, isOwn } of week.changes) {
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

try {
  await seed()
} catch (error) {
  fail(error)
}
