/** `GET /login`, `POST /login`, `POST /logout`. */
import formbody from '@fastify/formbody'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { problemResponses } from '@fastify-modular/errors'
import { safeReturnTo } from '@fastify-modular/public-routes'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Document } from '../web/document.ts'
import { createFormSender, forPeople, readForm } from './login-form.ts'
import type { SessionCookie } from './sessions.ts'
import { Credentials, signIn, type SignInParts } from './sign-in.ts'

export interface LoginRoutesOptions extends SignInParts {
  readonly cookie: SessionCookie
  readonly document: Document
  readonly isDemo: boolean
}

/**
 * The longest valid form with every character escaped. Strangers send these bodies, and the throttle counts a form only
 * after it was parsed: Fastify's default of 1 MiB would be 0.4 s of work for each.
 */
const maxFormBytes = 10_240

const LoginForm = Type.Composite([Credentials, Type.Object({ returnTo: Type.Optional(Type.String()) })])

const NoContent = Type.Null({ description: 'Done; the answer to a form is a redirect' })
const describe = (operationId: string, summary: string) => ({
  tags: ['session'],
  operationId,
  summary,
})

const LoginQuery = Type.Object({ returnTo: Type.Optional(Type.String()) })

/** The routes of the session. The form parser stays inside: no other route understands what a foreign form can send. */
export const loginRoutes: FastifyPluginAsyncTypebox<LoginRoutesOptions> = async (app, options) => {
  const { sessions, cookie, document, isDemo } = options
  const send = createFormSender(document, isDemo)
  await app.register(formbody)
  const isPublic = { config: { access: 'public' }, bodyLimit: maxFormBytes }

  app.get(
    '/login',
    { ...isPublic, schema: { querystring: LoginQuery, hide: true } },
    async function showLogin(request, reply) {
      // This page is not Inertia's: the client of a page whose session ended is sent to load it.
      if (request.headers['x-inertia'] !== undefined) return reply.inertiaLocation(request.url)
      const returnTo = safeReturnTo(request.query.returnTo) ?? '/'
      if (request.caller) return reply.redirect(returnTo, 303)
      return send(reply, { returnTo })
    },
  )

  app.post(
    '/login',
    {
      ...isPublic,
      attachValidation: true, // people get the form back, programs a problem
      schema: {
        ...describe('signIn', 'Start a session'),
        body: LoginForm,
        response: { 204: NoContent, ...problemResponses(400, 401, 403, 429, 503) },
      },
    },
    async function login(request, reply) {
      if (!isForm(request)) {
        if (request.validationError) throw request.validationError
        await startSession(request, reply, request.body)
        return reply.code(204).send(null)
      }
      const { username, returnTo } = readForm(request.body)
      try {
        if (request.validationError) throw request.validationError
        await startSession(request, reply, request.body)
        return reply.redirect(returnTo, 303)
      } catch (error) {
        const { status, message, headers } = forPeople(error)
        return send(reply.headers(headers), { status, error: message, username, returnTo })
      }
    },
  )

  app.post(
    '/logout',
    {
      ...isPublic,
      schema: {
        ...describe('signOut', 'End the session'),
        response: { 204: NoContent, ...problemResponses(403, 503) },
      },
    },
    async function logout(request, reply) {
      const id = cookie.read(request)
      if (id !== null) await sessions.end(id)
      cookie.clear(reply)
      return isForm(request) ? reply.redirect('/', 303) : reply.code(204).send(null)
    },
  )

  /** Ends the previous session: against session fixation, its identifier is not used again. */
  async function startSession(
    request: FastifyRequest,
    reply: FastifyReply,
    credentials: { username: string; password: string },
  ): Promise<void> {
    const id = await signIn(options, credentials, request.ip)
    const former = cookie.read(request)
    if (former !== null) await sessions.end(former)
    cookie.write(reply, id)
  }
}

function isForm(request: FastifyRequest): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? '')
}
