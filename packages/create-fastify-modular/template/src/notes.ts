/** The module of notes: everybody reads them, callers with the permission Notes.Write add them. */
import { randomUUID } from 'node:crypto'
import {
  defineEvent,
  defineModule,
  type Module,
  NotFoundException,
  requireCaller,
} from '@fastify-modular/core'
import { problemResponses } from '@fastify-modular/errors'
import { setting, SettingScope } from '@fastify-modular/settings'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'

const Note = Type.Object({ id: Type.String(), text: Type.String(), by: Type.String() })
type Note = Static<typeof Note>

/** A note was added. Other modules may handle it, too. */
export class NoteAdded extends defineEvent(
  'notes.added',
  Type.Object({ id: Type.String(), by: Type.String() }),
) {}

/** Remembers who added a note, newest first. It runs after the request has been answered. */
class ActivityHandler {
  static readonly event = NoteAdded
  readonly #activity: string[]

  constructor(activity: string[]) {
    this.#activity = activity
  }

  handle({ by, id }: NoteAdded): void {
    this.#activity.unshift(`${by} added ${id}`)
    this.#activity.length = Math.min(this.#activity.length, 20)
  }
}

const noteSettings = {
  shown: setting.number('notes.shown', {
    displayName: 'Notes in the list',
    description: 'How many notes the list has at most.',
    group: 'Notes',
    scope: SettingScope.Application,
    default: 20,
    min: 1,
    max: 100,
  }),
  order: setting.select('notes.order', {
    displayName: 'Order of notes',
    group: 'Notes',
    scope: SettingScope.User,
    options: [
      { value: 'newest', label: 'Newest first' },
      { value: 'oldest', label: 'Oldest first' },
    ],
    default: 'newest',
  }),
}

export function notesModule(): Module {
  const notes: Note[] = [] // gone with the process: keep yours in a database
  const activity: string[] = []
  return defineModule({
    name: 'notes',
    permissions: { 'Notes.Write': 'Write notes' },
    access: 'signed-in', // for the routes that do not say
    settings: noteSettings,
    handlers: [new ActivityHandler(activity)],
    plugin: async (app) => {
      await app.register(noteRoutes, { notes, activity })
    },
  })
}

const noteRoutes: FastifyPluginAsyncTypebox<{ notes: Note[]; activity: string[] }> = async (
  app,
  { notes, activity },
) => {
  app.get(
    '/api/notes',
    { config: { access: 'public' }, schema: { response: { 200: Type.Array(Note) } } },
    async (request) => {
      const order = (await request.settings).get(noteSettings.order) // the caller's own, where they have chosen one
      const list = order === 'newest' ? notes.toReversed() : notes
      return list.slice(0, app.settings.get(noteSettings.shown))
    },
  )

  app.get(
    '/api/notes/:id',
    {
      config: { access: 'public' },
      schema: {
        params: Type.Object({ id: Type.String() }),
        response: { 200: Note, ...problemResponses(app, 404) },
      },
    },
    async ({ params }) => {
      const note = notes.find(({ id }) => id === params.id)
      if (!note) throw new NotFoundException('Note', params.id)
      return note
    },
  )

  app.post(
    '/api/notes',
    {
      config: { access: 'Notes.Write' },
      schema: {
        body: Type.Object({ text: Type.String({ minLength: 1, maxLength: 1000 }) }),
        response: { 201: Note, ...problemResponses(app, 400, 401, 403) },
      },
    },
    async (request, reply) => {
      const note = { id: randomUUID(), text: request.body.text, by: requireCaller(request).id }
      notes.push(note)
      await app.events.publish(new NoteAdded({ id: note.id, by: note.by }))
      return reply.code(201).send(note)
    },
  )

  app.get('/api/activity', { schema: { response: { 200: Type.Array(Type.String()) } } }, async () => activity)
}
