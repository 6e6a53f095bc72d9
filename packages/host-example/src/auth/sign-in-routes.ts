/** `/login`, `/register` and `/logout`. */
import formbody from '@fastify/formbody'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ForbiddenException, NotFoundException } from '@fastify-modular/core'
import { problemResponses } from '@fastify-modular/errors'
import { safeReturnTo } from '@fastify-modular/public-routes'
import { Type } from '@sinclair/typebox'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { systemSettings } from '../app-settings.ts'
import type { Database } from '../database/database.ts'
import type { Document } from '../web/document.ts'
import { readLook } from '../web/look.ts'
import { createFormSender, forPeople, type LoginPage, readForm } from './login-form.ts'
import { NewAccount, register } from './register.ts'
import { endSession } from './sessions.ts'
import { Credentials, signIn, type SignInParts } from './sign-in.ts'
import { addThrottle } from './throttle.ts'

interface SignInOptions extends Omit<SignInParts, 'throttle'> {
  readonly database: Database
  /** Every request travels over TLS. */
  readonly isSecure: boolean
  readonly document: Document
  readonly isDemo: boolean
}

/**
 * The longest valid form with every character escaped. Strangers send these bodies, and the throttle counts a form only
 * after it was parsed: Fastify's default of 1 MiB would be 0.4 s of work for each.
 */
const maxFormBytes = 10_240

const ReturnTo = Type.Object({ returnTo: Type.Optional(Type.String()) })
const LoginForm = Type.Composite([Credentials, ReturnTo])
const RegisterForm = Type.Composite([NewAccount, ReturnTo])

const NoContent = Type.Null({ description: 'Done; the answer to a form is a redirect' })
const describe = (operationId: string, summary: string) => ({
  tags: ['session'],
  operationId,
  summary,
})

/** `switch`: a form for another account, also for a caller who is signed in. */
const LoginQuery = Type.Composite([ReturnTo, Type.Object({ switch: Type.Optional(Type.String()) })])

/** The routes of the session. The form parser stays inside: no other route understands what a foreign form can send. */
export const signInRoutes: FastifyPluginAsyncTypebox<SignInOptions> = async (app, options) => {
  const sendForm = createFormSender(options)
  await app.register(formbody)
  const parts = { ...options, throttle: await addThrottle(app, options.database) }
  if (options.isSecure) app.addHook('preHandler', createTlsCheck(app.log))
  const isPublic = { config: { access: 'public' }, bodyLimit: maxFormBytes }

  app.get(
    '/login',
    { ...isPublic, schema: { querystring: LoginQuery, hide: true } },
    async function showLogin(request, reply) {
      // This page is not Inertia's: the client of a page whose session ended is sent to load it.
      if (request.headers['x-inertia'] !== undefined) return reply.inertiaLocation(request.originalUrl)
      const returnTo = safeReturnTo(request.query.returnTo) ?? '/'
      if (request.caller && request.query.switch === undefined) return reply.redirect(returnTo, 303)
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
        response: { 204: NoContent, ...problemResponses(app, 400, 401, 403, 429, 503) },
      },
    },
    async function login(request, reply) {
      if (!isForm(request)) {
        if (request.validationError) throw request.validationError
        await signIn(parts, request)
        return reply.code(204).send(null)
      }
      return answerForm(request, reply, () => signIn(parts, request), {
        hint: 'Enter your user name and your password.',
      })
    },
  )

  app.get(
    '/register',
    { ...isPublic, schema: { querystring: ReturnTo, hide: true } },
    async function showRegistration(request, reply) {
      if (request.headers['x-inertia'] !== undefined) return reply.inertiaLocation(request.originalUrl)
      checkRegistration()
      return send(reply, { returnTo: safeReturnTo(request.query.returnTo) ?? '/', isNew: true })
    },
  )

  app.post(
    '/register',
    {
      ...isPublic,
      attachValidation: true,
      schema: {
        ...describe('register', 'Create an account and start its first session'),
        body: RegisterForm,
        response: { 204: NoContent, ...problemResponses(app, 400, 403, 404, 409, 429, 503) },
      },
    },
    async function createAccount(request, reply) {
      checkRegistration()
      if (!isForm(request)) {
        if (request.validationError) throw request.validationError
        await register(parts, request)
        return reply.code(204).send(null)
      }
      return answerForm(request, reply, () => register(parts, request), {
        isNew: true,
        hint: 'Choose a user name of small letters and digits, and a password of 8 characters or more.',
      })
    },
  )

  app.post(
    '/logout',
    {
      ...isPublic,
      schema: {
        ...describe('signOut', 'End the session'),
        response: { 204: NoContent, ...problemResponses(app, 403, 503) },
      },
    },
    async function logout(request, reply) {
      await endSession(request, reply, options.isSecure)
      if (request.caller) app.settings.endStreams(request.caller.id) // open pages hear no more
      return isForm(request) ? reply.redirect('/', 303) : reply.code(204).send(null)
    },
  )

  /** Until an administrator opens registration, it does not exist. */
  function checkRegistration(): void {
    if (!app.settings.get(systemSettings.registrationEnabled))
      throw new NotFoundException('Page', '/register')
  }

  async function send(reply: FastifyReply, page: Omit<LoginPage, 'look'>): Promise<FastifyReply> {
    return sendForm(reply, { ...page, look: await readLook(app.settings, null) })
  }

  /** Starts a session by what a form holds, or shows the form again with what was wrong. */
  async function answerForm(
    request: FastifyRequest & { readonly validationError?: Error },
    reply: FastifyReply,
    start: () => Promise<void>,
    { hint, isNew = false }: { readonly hint: string; readonly isNew?: boolean },
  ): Promise<FastifyReply> {
    const { username, returnTo } = readForm(request.body)
    try {
      if (request.validationError) throw request.validationError
      await start()
      return reply.redirect(returnTo, 303)
    } catch (failure) {
      const { status, message, headers } = forPeople(failure, hint)
      return send(reply.headers(headers), { status, error: message, username, returnTo, isNew })
    }
  }
}

/** Browsers would not keep the cookie, and nobody would know why signing in changes nothing. The log says it once. */
function createTlsCheck(log: FastifyBaseLogger) {
  let isWarned = false
  return async function checkTls({ method, protocol }: FastifyRequest): Promise<void> {
    if (method !== 'POST' || protocol === 'https') return
    if (!isWarned)
      log.warn(
        'a session was refused, because the request did not come over TLS: name the proxy where TLS ends in TRUST_PROXY, and let it set X-Forwarded-Proto: https',
      )
    isWarned = true
    throw new ForbiddenException('A session starts and ends over HTTPS only.')
  }
}

function isForm(request: FastifyRequest): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? '')
}
