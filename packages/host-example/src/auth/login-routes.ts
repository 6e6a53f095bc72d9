/** `GET /login`, `POST /login`, `POST /logout`. */
import formbody from '@fastify/formbody'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { isDomainException } from '@fastify-modular/core'
import { safeReturnTo } from '@fastify-modular/public-routes'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Document } from '../web/document.ts'
import { loginPage } from './login-page.ts'
import type { SessionCookie } from './session-cookie.ts'
import { Credentials, signIn, type SignInParts } from './sign-in.ts'

export interface LoginRoutesOptions extends SignInParts {
  readonly cookie: SessionCookie
  readonly document: Document
  readonly isDemo: boolean
}

const LoginForm = Type.Composite([Credentials, Type.Object({ returnTo: Type.Optional(Type.String()) })])

const LoginQuery = Type.Object({ returnTo: Type.Optional(Type.String()) })

/** The routes of the session. The form parser stays inside: no other route understands what a foreign form can send. */
export const loginRoutes: FastifyPluginAsyncTypebox<LoginRoutesOptions> = async (app, options) => {
  const { sessions, cookie, document, isDemo } = options
  await app.register(formbody)
  const isPublic = { config: { public: true } }

  app.get(
    '/login',
    { ...isPublic, schema: { querystring: LoginQuery, hide: true } },
    async function showLogin(request, reply) {
      // This page is not Inertia's: the client of a page whose session ended is sent to load it.
      if (request.headers['x-inertia'] !== undefined) return reply.inertiaLocation(request.url)
      const returnTo = safeReturnTo(request.query.returnTo) ?? '/'
      if (request.caller) return reply.redirect(returnTo, 303)
      return showForm(reply, { returnTo })
    },
  )

  app.post(
    '/login',
    {
      ...isPublic,
      attachValidation: true, // people get the form back, programs a problem
      schema: { body: LoginForm, tags: ['session'], operationId: 'signIn', summary: 'Start a session' },
    },
    async function login(request, reply) {
      if (!isForm(request)) {
        if (request.validationError) throw request.validationError
        await startSession(request, reply, request.body)
        return reply.code(204).send()
      }
      const { username, returnTo } = textsOf(request.body)
      try {
        if (request.validationError) throw request.validationError
        await startSession(request, reply, request.body)
        return reply.redirect(safeReturnTo(returnTo) ?? '/', 303)
      } catch (error) {
        const { status, message, headers } = forPeople(error)
        reply.code(status).headers(headers)
        return showForm(reply, { error: message, username, returnTo: safeReturnTo(returnTo) ?? '/' })
      }
    },
  )

  app.post(
    '/logout',
    { ...isPublic, schema: { tags: ['session'], operationId: 'signOut', summary: 'End the session' } },
    async function logout(request, reply) {
      const id = cookie.read(request)
      if (id !== null) await sessions.end(id)
      cookie.clear(reply)
      return isForm(request) ? reply.redirect('/', 303) : reply.code(204).send()
    },
  )

  /** A session of before ends: its identifier may be known to whoever set it. */
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

  function showForm(
    reply: FastifyReply,
    page: { error?: string; username?: string; returnTo: string },
  ): FastifyReply {
    reply.header('cache-control', 'no-store').type('text/html; charset=utf-8')
    return reply.send(document({ title: 'Sign in', body: loginPage({ ...page, isDemo }) }))
  }
}

function isForm(request: FastifyRequest): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? '')
}

/** What came in a form that may be invalid. */
function textsOf(body: unknown): { username: string; returnTo: string } {
  const { username, returnTo } = { ...(typeof body === 'object' ? body : null) } as Record<string, unknown>
  return {
    username: typeof username === 'string' ? username.slice(0, 100) : '',
    returnTo: typeof returnTo === 'string' ? returnTo : '/',
  }
}

/** Failures that a person can do something about; anything else goes its usual way. */
function forPeople(error: unknown): { status: number; message: string; headers: Record<string, string> } {
  if (isDomainException(error) && error.statusCode < 500) {
    const retryAfter = error.headers?.['retry-after']
    return {
      status: error.statusCode,
      message: error.message,
      headers: retryAfter ? { 'retry-after': retryAfter } : {},
    }
  }
  if (error instanceof Error && 'validation' in error) {
    return { status: 400, message: 'Enter your user name and your password.', headers: {} }
  }
  throw error
}
