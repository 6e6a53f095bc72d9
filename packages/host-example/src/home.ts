/** The home page: an introduction for strangers, a dashboard for everyone who is signed in. */
import { hasPermission } from '@fastify-modular/core'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { type CompleteDefinition, type HistoryEntry, SettingType } from '@fastify-modular/settings'
import type { Accounts } from './accounts.ts'
import type { Database } from './database/database.ts'
import type { Note } from './modules/notes/note.ts'
import { createNotesService } from './modules/notes/notes-service.ts'
import { localeOf, textsOf } from './texts/texts.ts'
import { translate } from './texts/translate.ts'
import { type Look, readLook } from './web/look.ts'
import { framedPolicy, framingPolicy } from './web/security-headers.ts'

/** Settings that somebody changed together, as the dashboard shows them. */
export interface ChangeSet {
  readonly revision: number
  readonly actor: { readonly id: string; readonly name: string }
  readonly at: string
  readonly changes: readonly Change[]
}

interface Change {
  readonly setting: string
  /** Null where nothing was stored, and for secrets. */
  readonly from: string | null
  readonly to: string | null
  readonly isSecret: boolean
}

/** The props of the dashboard: notes for members, and for callers who may change settings what was changed. */
export interface Dashboard {
  readonly notes: readonly Note[] | null
  readonly sets: readonly ChangeSet[] | null
}

const shown = 4

interface HomeOptions {
  readonly database: Database
  readonly accounts: Pick<Accounts, 'names'>
  /** Whether strangers may try settings, and sign in as the administrator to save them. */
  readonly isDemo: boolean
}

/** `GET /`, and what strangers see of it for those who are signed in. */
export const home: FastifyPluginAsync<HomeOptions> = async (app, { database, accounts, isDemo }) => {
  const notes = createNotesService(database, app.events)

  app.get('/', (request, reply) => {
    const { caller } = request
    if (caller === null) return sendPublic(reply)
    const isEditor = hasPermission(caller, 'Settings.Update')
    reply.header('content-security-policy', framingPolicy)
    return reply.inertia('Dashboard', {
      notes: async () => (isEditor ? null : (await notes.list(caller)).slice(0, shown)),
      sets: () => (isEditor ? readSets(request, accounts) : null),
    })
  })

  app.get('/as-stranger', { config: { access: 'public' } }, (request, reply) => {
    request.caller = null
    return sendPublic(reply.header('content-security-policy', framedPolicy))
  })

  function sendPublic(reply: FastifyReply): FastifyReply {
    return reply.inertia('Home', { isDemo }, { clearHistory: true })
  }
}

/** What was changed for all and not put back, newest first. */
async function readSets(request: FastifyRequest, accounts: HomeOptions['accounts']): Promise<ChangeSet[]> {
  const { caller, server } = request
  const { entries } = await server.settings.history({ limit: 50, ...(caller && { visibleTo: caller }) })
  const look = await readLook(request)
  const people = await accounts.names()
  const sets = new Map<number, ChangeSet & { readonly changes: Change[] }>()
  /** How many values of a revision were put back. */
  const reverted = new Map<number, number>()
  for (const { revision, actor, at, origin, note, setSize, ...entry } of entries) {
    if ((reverted.get(revision) ?? 0) >= setSize) continue
    const undone = origin === 'revert' ? Number(/^Reverts revision (\d+)/.exec(note ?? '')?.[1]) : 0
    if (undone) {
      reverted.set(undone, (reverted.get(undone) ?? 0) + 1)
      continue
    }
    const id = actor ?? ''
    const person = { id, name: people[id] ?? actor ?? '–' }
    const set = sets.get(revision) ?? { revision, actor: person, at, changes: [] }
    sets.set(revision, set)
    set.changes.push(changeOf(entry, server.settings.definitions.getDefinition(entry.key), look))
  }
  return [...sets.values()].slice(0, shown)
}

function changeOf(
  {
    key,
    oldValue,
    newValue,
    isOverridden,
  }: Pick<HistoryEntry, 'key' | 'oldValue' | 'newValue' | 'isOverridden'>,
  definition: CompleteDefinition | null,
  look: Look,
): Change {
  return {
    setting:
      (definition && translate(definition, look.language)?.displayName) ?? definition?.displayName ?? key,
    from: textOf(oldValue, definition, look),
    to: textOf(newValue, definition, look),
    isSecret: definition?.sensitive === true && isOverridden,
  }
}

/** A value as people say it. */
function textOf(value: unknown, definition: CompleteDefinition | null, look: Look): string | null {
  if (value === null || value === '') return null
  const { language } = look
  const { on, off } = textsOf(language)
  if (typeof value === 'boolean') return value ? on : off
  if (typeof value !== 'string') return textOf(JSON.stringify(value), null, look)
  if (definition?.type === SettingType.DateTime) {
    const { timeZone } = look
    return new Date(value).toLocaleString(localeOf(look), {
      timeZone,
      dateStyle: 'medium',
      timeStyle: 'short',
    })
  }
  const option = definition?.options?.find((each) => each.value === value)
  const label = definition && (translate(definition, language)?.options?.[value]?.label ?? option?.label)
  const text = label ?? value
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
