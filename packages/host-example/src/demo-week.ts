/** A week in the life of the example: its first visitor sees people at work instead of emptiness. */
import { PreconditionFailedException, type Settings, type SettingToken } from '@fastify-modular/settings'
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
    try {
      for (const [hoursAgo, step] of week) await at(Date.now() - hoursAgo * hour, () => step(settings, notes))
    } catch (error) {
      // Another instance that starts now has taken the first step: the week is its work.
      if (!(error instanceof PreconditionFailedException)) throw error
    }
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

function write(id: string, title: string, body: string, isShared = false): Step {
  return async (_settings, notes) => {
    const note = await notes.add({ id }, { title, body })
    if (isShared) await notes.share({ id }, note.id)
  }
}

function set<T>(actor: string, token: SettingToken<T>, value: T, note?: string): Step {
  return (settings) => settings.set(token, value, { actor, ...(note && { note }) })
}

function prefer<T>(userId: string, token: SettingToken<T>, value: T): Step {
  return (settings) => settings.set(token, value, { actor: userId, userId })
}

const { title, logo, primaryColor, banner, supportEmail, homepageUrl, launchAt } = appSettings
const { maintenanceMode } = systemSettings
const inThreeWeeks = (): string => new Date(Date.now() + 21 * 24 * hour).toISOString()

const week: readonly (readonly [hoursAgo: number, step: Step])[] = [
  [
    163,
    (settings) => settings.set(title, 'Acme Notes', { actor: 'admin', note: 'Our own name', version: 0 }),
  ],
  [162, set('admin', logo, 'leaf')],
  [161, write('admin', 'Who does what', 'Eli changes the settings, I keep the server, everybody writes.')],
  [
    140,
    write(
      'bob',
      'Bread, again',
      '500 g flour, 350 g water, 10 g salt. Cold overnight. Less water next time.',
    ),
  ],
  [138, prefer('bob', userSettings.theme, 'dark')],
  [116, set('editor', banner, 'Welcome! Write your first note.')],
  [
    114,
    write('alice', 'Names for the cat', 'Biscuit. Admiral. Small Tuesday. (Small Tuesday is winning.)', true),
  ],
  [92, set('admin', maintenanceMode, true, 'A larger disk')],
  [91, set('admin', maintenanceMode, false)],
  [69, set('editor', primaryColor, '#0f766e', 'Like the leaf')],
  [66, prefer('alice', userSettings.density, 'compact')],
  [
    47,
    write(
      'editor',
      'Questions for Thursday',
      'Who signs off the winter issue? Do we keep two columns?',
      true,
    ),
  ],
  [45, (settings) => settings.set(launchAt, inThreeWeeks(), { actor: 'editor' })],
  [24, set('admin', supportEmail, 'help@acme.example')],
  [
    22,
    write(
      'alice',
      'Harbour walk',
      'Low tide at 7:40. Bring boots, the flask, and the long lens for the herons.',
    ),
  ],
  [4, set('admin', homepageUrl, 'https://acme.example')],
  [1, set('editor', banner, 'The winter issue is out on Thursday.')],
]
