/** A week in the life of the example: its first visitor sees people at work instead of emptiness. */
import type { Settings } from '@fastify-modular/settings'
import type { FastifyPluginAsync } from 'fastify'
import { appSettings, systemSettings, userSettings } from './app-settings.ts'
import type { Database } from './database/database.ts'
import { createNotesService, type NotesService } from './modules/notes/notes-service.ts'

/** Writes the week when the application starts for the first time: no setting was changed, and there is no note. */
export const demoWeek: FastifyPluginAsync<{ readonly database: Database }> = async (app, { database }) => {
  const { settings } = app
  const notes = createNotesService(database, app.events)
  app.addHook('onReady', async function writeWeek() {
    const existing = await notes.list({ id: 'admin', isAdmin: true })
    if (settings.status.revision > 0 || existing.length > 0) return
    for (const [hoursAgo, step] of week) await at(Date.now() - hoursAgo * hour, () => step(settings, notes))
  })
}

const hour = 60 * 60 * 1000

/**
 * Runs a step as if it was that time, in ms since 1970. Notes and SQLite take the time from this process, which answers no
 * request yet. PostgreSQL has a clock of its own: there, all settings were changed just now.
 */
async function at(time: number, step: () => Promise<unknown>): Promise<void> {
  const { now } = Date
  Date.now = () => time
  try {
    await step()
  } finally {
    Date.now = now
  }
}

type Step = (settings: Settings, notes: NotesService) => Promise<unknown>

const write =
  (id: string, title: string, body: string): Step =>
  (_settings, notes) =>
    notes.add({ id }, { title, body })

const writeAndShare =
  (id: string, title: string, body: string): Step =>
  async (_settings, notes) =>
    notes.share({ id }, (await notes.add({ id }, { title, body })).id)

const week: readonly (readonly [hoursAgo: number, step: Step])[] = [
  [
    163,
    (settings) =>
      settings.setMany(
        [
          { key: appSettings.title.key, scope: 1, value: 'Acme Notes' },
          { key: appSettings.logo.key, scope: 1, value: 'leaf' },
          { key: appSettings.supportEmail.key, scope: 1, value: 'help@acme.example' },
        ],
        { actor: 'admin', note: 'Our own name' },
      ),
  ],
  [161, write('admin', 'Who may do what', 'Eli changes the settings, I keep the server, everybody writes.')],
  [
    140,
    write(
      'bob',
      'Bread, again',
      '500 g flour, 350 g water, 10 g salt. Cold overnight. Less water next time.',
    ),
  ],
  [138, (settings) => settings.set(userSettings.theme, 'dark', { userId: 'bob', actor: 'bob' })],
  [
    116,
    (settings) => settings.set(appSettings.banner, 'Welcome! Write your first note.', { actor: 'editor' }),
  ],
  [
    114,
    writeAndShare(
      'alice',
      'Names for the cat',
      'Biscuit. Admiral. Small Tuesday. (Small Tuesday is winning.)',
    ),
  ],
  [93, (settings) => settings.set('mail.host', 'smtp.acme.example', { actor: 'admin', note: 'Moved house' })],
  [
    92,
    (settings) =>
      settings.set(systemSettings.maintenanceMode, true, { actor: 'admin', note: 'A larger disk' }),
  ],
  [91, (settings) => settings.reset(systemSettings.maintenanceMode, { actor: 'admin' })],
  [
    69,
    (settings) =>
      settings.set(appSettings.primaryColor, '#0f766e', { actor: 'editor', note: 'Like the leaf' }),
  ],
  [66, (settings) => settings.set(userSettings.density, 'compact', { userId: 'alice', actor: 'alice' })],
  [
    47,
    writeAndShare(
      'editor',
      'Questions for Thursday',
      'Who signs off the winter issue? Do we keep two columns on phones?',
    ),
  ],
  [
    45,
    (settings) =>
      settings.set(appSettings.launchAt, new Date(Date.now() + 24 * 24 * hour).toISOString(), {
        actor: 'editor',
      }),
  ],
  [
    22,
    write(
      'alice',
      'Harbour walk',
      'Low tide at 7:40. Bring boots, the flask, and the long lens for the herons.',
    ),
  ],
  [4, (settings) => settings.set(appSettings.homepageUrl, 'https://acme.example', { actor: 'admin' })],
  [
    1,
    (settings) =>
      settings.set(appSettings.banner, 'The winter issue is out on Thursday.', { actor: 'editor' }),
  ],
]
