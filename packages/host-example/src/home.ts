/** The home page: an introduction for strangers, a dashboard for everyone who is signed in. */
import { type Caller, hasPermission } from '@fastify-modular/core'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { type CompleteDefinition, SettingType } from '@fastify-modular/settings'
import type { Accounts } from './accounts.ts'
import type { Database } from './database/database.ts'
import type { Note } from './modules/notes/note.ts'
import { createNotesService } from './modules/notes/notes-service.ts'
import { textsOf } from './texts/texts.ts'
import { translate } from './texts/translate.ts'
import { readLook } from './web/look.ts'

/** A change of a setting, as the dashboard shows it. */
export interface Change {
  readonly id: string
  readonly actor: { readonly id: string; readonly name: string }
  readonly setting: string
  /** Null where nothing was stored, and for secrets. */
  readonly from: string | null
  readonly to: string | null
  readonly isSecret: boolean
  readonly at: string
}

/** The props of the dashboard. */
export interface Dashboard {
  readonly notes: readonly Note[]
  /** Null for callers who may not change settings. */
  readonly changes: readonly Change[] | null
}

const shown = 4

interface HomeOptions {
  readonly database: Database
  readonly accounts: Pick<Accounts, 'names'>
}

/** `GET /`. */
export const home: FastifyPluginAsync<HomeOptions> = async (app, { database, accounts }) => {
  const notes = createNotesService(database, app.events)

  app.get('/', async ({ caller }, reply) => {
    if (caller === null) return reply.inertia('Home', {}, { clearHistory: true })
    return reply.inertia('Dashboard', {
      notes: async () => (await notes.list(caller)).slice(0, shown),
      changes: () => readChanges(app, caller, accounts),
    })
  })
}

/** What happened to the settings of all, newest first. */
async function readChanges(
  { settings }: FastifyInstance,
  caller: Caller,
  accounts: HomeOptions['accounts'],
): Promise<Change[] | null> {
  if (!hasPermission(caller, 'Settings.Update')) return null
  const { entries } = await settings.history({ limit: shown, visibleTo: caller })
  const { language } = await readLook(settings, caller)
  const people = await accounts.names()
  return entries.map(({ revision, key, actor, oldValue, newValue, isOverridden, at }) => {
    const definition = settings.definitions.getDefinition(key)
    return {
      id: `${revision} ${key}`,
      actor: { id: actor ?? '', name: people[actor ?? ''] ?? actor ?? '–' },
      setting: (definition && translate(definition, language)?.displayName) ?? definition?.displayName ?? key,
      from: textOf(oldValue, definition, language),
      to: textOf(newValue, definition, language),
      isSecret: definition?.sensitive === true && isOverridden,
      at,
    }
  })
}

/** A value as people say it. */
function textOf(value: unknown, definition: CompleteDefinition | null, language: string): string | null {
  if (value === null || value === '') return null
  const { on, off } = textsOf(language)
  if (typeof value === 'boolean') return value ? on : off
  if (typeof value !== 'string') return textOf(JSON.stringify(value), null, language)
  if (definition?.type === SettingType.DateTime)
    return new Date(value).toLocaleString(language, { dateStyle: 'medium', timeStyle: 'short' })
  const option = definition?.options?.find((each) => each.value === value)
  const label = definition && (translate(definition, language)?.options?.[value]?.label ?? option?.label)
  const text = label ?? value
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
