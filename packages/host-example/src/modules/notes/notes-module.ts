/** The module of notes: its public route, its HTTP API and its page. */
import {
  type Caller,
  ConflictException,
  defineModule,
  isDomainException,
  type Module,
  NotFoundException,
  requireCaller,
} from '@fastify-modular/core'
import { problemResponses } from '@fastify-modular/errors'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createHmac } from 'node:crypto'
import type { Accounts } from '../../accounts.ts'
import { appSettings } from '../../app-settings.ts'
import type { Database } from '../../database/database.ts'
import { format, textsOf } from '../../texts/texts.ts'
import { readLook } from '../../web/look.ts'
import { NewNote, Note, NoteChange, NoteForm, SharedNote } from './note.ts'
import { createNotesService, notesPerPage, type NotesService } from './notes-service.ts'

export function notesModule(database: Database, { names }: Pick<Accounts, 'names'>): Module {
  return defineModule({
    name: 'notes',
    access: 'signed-in',
    // GET only: the other verbs under the same prefix still answer 401 to anonymous callers (S 5.6).
    publicRoutes: (registry) => void registry.addRegex(/\/api\/notes\/[^/]+\/share$/, { methods: ['GET'] }),
    plugin: async (app) => {
      const notes = createNotesService(database, app.events)
      await app.register(notesRoutes, { notes, names })
    },
  })
}

const Id = Type.Object({ id: Type.String({ minLength: 1, maxLength: 100 }) })
const Page = Type.Object({ page: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,5}$' })) })
const PageAndQuery = Type.Composite([
  Page,
  Type.Object({ q: Type.Optional(Type.String({ maxLength: 100, pattern: '^[^\\0\\p{Surrogate}]*$' })) }),
])
const NoContent = Type.Null({ description: 'Done' })
const AddedNote = {
  ...Note,
  headers: { Location: { type: 'string', description: 'The address of the note' } },
}
const SignedNote = { ...SharedNote, headers: { 'X-Signature': { type: 'string', description: 'sha256=…' } } }
const describe = (operationId: string, summary: string) => ({ tags: ['notes'], operationId, summary })

interface NotesOptions extends Pick<Accounts, 'names'> {
  readonly notes: NotesService
}

/** Routes → service, one line each. */
const notesRoutes: FastifyPluginAsyncTypebox<NotesOptions> = async (app, { notes, names }) => {
  app.get('/notes', { schema: { querystring: PageAndQuery } }, (request, reply) => {
    const { page: text = '1', q: query = '' } = request.query
    const page = Number(text)
    const list = notes.list(requireCaller(request), page, query.trim())
    return reply.inertia('Notes/Index', {
      notes: list,
      people: async () => names((await list).map(({ owner }) => owner)),
      query,
      page,
      perPage: notesPerPage,
    })
  })

  // The form of the page. What is refused comes back to it with errors, and success with a message that is shown once.
  app.post('/notes', { schema: { body: NoteForm } }, (request, reply) => {
    const { title, body } = request.body
    return answerForm(request, reply, 'added', (caller) => notes.add(caller, { title, body }))
  })

  app.patch('/notes/:id', { schema: { params: Id, body: NoteForm } }, (request, reply) =>
    answerForm(request, reply, 'saved', (caller) => notes.change(caller, request.params.id, request.body)),
  )

  async function answerForm(
    request: FastifyRequest<{ Body: NoteForm }>,
    reply: FastifyReply,
    done: 'added' | 'saved',
    save: (caller: Caller) => Promise<Note>,
  ): Promise<FastifyReply> {
    const caller = requireCaller(request)
    const texts = textsOf((await readLook(request)).language)
    if (request.body.title.trim() === '') return reply.inertiaBack({ errors: { title: texts.enterTitle } })
    try {
      const { id, title } = await save(caller)
      return reply.inertiaBack({ flash: { message: format(texts[done], { title }), note: id } })
    } catch (failure) {
      if (!isDomainException(failure) || failure.statusCode >= 500) throw failure
      return reply.inertiaBack({ errors: { form: failure.message } })
    }
  }

  app.get(
    '/api/notes',
    {
      schema: {
        ...describe('listNotes', 'The notes you may use, newest first, 100 on a page'),
        querystring: Page,
        response: { 200: Type.Array(Note), ...problemResponses(app, 400, 401, 503) },
      },
    },
    (request) => notes.list(requireCaller(request), Number(request.query.page ?? 1)),
  )

  app.post(
    '/api/notes',
    {
      schema: {
        ...describe('addNote', 'Add a note'),
        body: NewNote,
        response: { 201: AddedNote, ...problemResponses(app, 400, 401, 413, 415, 503) },
      },
    },
    async (request, reply) => {
      const note = await notes.add(requireCaller(request), request.body)
      return reply.code(201).header('location', `/api/notes/${note.id}`).send(note)
    },
  )

  app.get(
    '/api/notes/:id',
    {
      schema: {
        ...describe('getNote', 'Read a note'),
        params: Id,
        response: { 200: Note, ...problemResponses(app, 401, 403, 404, 503) },
      },
    },
    (request) => notes.get(requireCaller(request), request.params.id),
  )

  app.patch(
    '/api/notes/:id',
    {
      schema: {
        ...describe('changeNote', 'Change a note'),
        params: Id,
        body: NoteChange,
        response: {
          200: Note,
          ...problemResponses(app, 400, 401, 403, NotFoundException, ConflictException, 413, 415, 503),
        },
      },
    },
    (request) => notes.change(requireCaller(request), request.params.id, request.body),
  )

  app.delete(
    '/api/notes/:id',
    {
      schema: {
        ...describe('removeNote', 'Remove a note'),
        params: Id,
        response: { 204: NoContent, ...problemResponses(app, 401, 403, 404, 503) },
      },
    },
    async (request, reply) => {
      await notes.remove(requireCaller(request), request.params.id)
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/api/notes/:id/restore',
    {
      schema: {
        ...describe('restoreNote', 'Undo the removal of a note, for an hour'),
        params: Id,
        response: { 200: Note, ...problemResponses(app, 401, 403, 404, 503) },
      },
    },
    (request) => notes.restore(requireCaller(request), request.params.id),
  )

  app.post(
    '/api/notes/:id/share',
    {
      schema: {
        ...describe('shareNote', 'Let everybody read a note'),
        params: Id,
        response: { 200: Note, ...problemResponses(app, 401, 403, 404, 409, 503) },
      },
    },
    (request) => notes.share(requireCaller(request), request.params.id),
  )

  app.delete(
    '/api/notes/:id/share',
    {
      schema: {
        ...describe('stopSharingNote', 'Stop sharing a note'),
        params: Id,
        response: { 204: NoContent, ...problemResponses(app, 401, 403, 404, 409, 503) },
      },
    },
    async (request, reply) => {
      await notes.stopSharing(requireCaller(request), request.params.id)
      return reply.code(204).send(null)
    },
  )

  app.get(
    '/api/notes/:id/share',
    {
      schema: {
        ...describe('readSharedNote', 'Read a shared note, without signing in'),
        description:
          'While the setting “API secret” has a value, X-Signature is the HMAC-SHA-256 of the body.',
        params: Id,
        response: { 200: SignedNote, ...problemResponses(app, 404, 503) },
      },
    },
    async (request, reply) => {
      const note = await notes.readShared(request.params.id)
      const secret = app.settings.get(appSettings.apiSecret)
      if (secret !== null) reply.header('x-signature', signatureOf(JSON.stringify(note), secret))
      return note
    },
  )
}

/** Readers who know the secret can prove that the note comes from here unchanged. */
function signatureOf(body: string, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}
