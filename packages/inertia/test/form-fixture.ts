/** An application with forms, and a client that keeps cookies. */
import cookie from '@fastify/cookie'
import { type Caller, ValidationException } from '@fastify-modular/core'
import { declareAccess } from '@fastify-modular/core/internal'
import { errors } from '@fastify-modular/errors'
import { cookieFlash, inertia, type InertiaOptions, type Page } from '@fastify-modular/inertia'
import Fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import type { Test } from 'tap'

export const secret = 'a secret of thirty-two characters or more'
const schema = {
  body: {
    type: 'object',
    required: ['title'],
    properties: { title: { type: 'string', minLength: 3 }, body: { type: 'string', maxLength: 5 } },
  },
} as const

/** A client that keeps cookies, and says who calls by a header. */
export class Client {
  readonly #app: FastifyInstance
  readonly #jar = new Map<string, string>()
  readonly setCookies: string[] = []
  caller = ''
  hasScript = true

  constructor(app: FastifyInstance) {
    this.#app = app
  }

  async send(method: 'GET' | 'POST' | 'HEAD' | 'PUT', url: string, options: InjectOptions = {}) {
    const answer = await this.#app.inject({
      method,
      url,
      ...options,
      headers: {
        ...(this.hasScript && { 'x-inertia': 'true', 'x-inertia-version': 'v1' }),
        host: 'app.test',
        ...(this.caller && { 'x-caller': this.caller }),
        ...(this.#jar.size > 0 && { cookie: [...this.#jar].map((pair) => pair.join('=')).join('; ') }),
        ...options.headers,
      },
    })
    for (const { name, value } of answer.cookies) {
      if (value === '') this.#jar.delete(name)
      else this.#jar.set(name, value)
    }
    this.setCookies.push(...[answer.headers['set-cookie'] ?? []].flat())
    return answer
  }

  /** Sends a form from a page, and follows the redirect as the client does: with the same headers. */
  async submit(from: string, url: string, payload: object, headers: Record<string, string> = {}) {
    const referer = `http://app.test${from}`
    const answer = await this.send('POST', url, { payload, headers: { referer, ...headers } })
    const location = String(answer.headers.location)
    const page = answer.statusCode === 303 ? await this.send('GET', location, { headers }) : undefined
    return { answer, page: page?.json<Page>() }
  }

  get cookie(): string {
    return [...this.#jar.values()][0] ?? ''
  }
  set cookie(value: string) {
    for (const name of this.#jar.keys()) this.#jar.set(name, value)
  }
}

export async function createApp(t: Test, options: InertiaOptions = { flash: cookieFlash({ secret }) }) {
  const app = Fastify()
  t.teardown(() => app.close())
  app.decorateRequest('caller', null)
  app.addHook('onRequest', async (request) => {
    const { 'x-caller': id } = request.headers
    if (typeof id === 'string') Object.assign(request, { caller: { id } satisfies Caller })
  })
  await app.register(errors, { errorPage: false })
  await app.register(cookie)
  app.get('/early', async () => 'early')
  await app.register(inertia, { version: 'v1', ...options })
  app.get('/', (_, reply) => reply.inertia('Home'))
  app.get('/notes', (_, reply) => reply.inertia('Notes', { list: [1], count: 1 }))
  app.get('/notes/:id/edit', (_, reply) => reply.inertia('Edit'))
  app.get('/new', (_, reply) => reply.inertia('New'))
  app.post('/new', { schema }, (_, reply) => reply.inertiaBack())
  app.get('/items/:id', (_, reply) => reply.inertia('Item'))
  app.post('/items/:id', { schema }, (_, reply) => reply.inertiaBack())
  app.get('//*', (_, reply) => reply.inertia('Other'))
  app.post('//*', { schema }, (_, reply) => reply.inertiaBack())
  app.post('/notes', { schema }, (_, reply) => reply.inertiaBack({ flash: { message: 'Saved.' } }))
  app.post('/api/notes', { schema }, async () => 'ok')
  app.register(async (scope) => {
    declareAccess(scope, {}) // as settings do
    scope.post('/programs', { schema }, async () => 'ok')
  })
  app.post<{ Body: Record<string, unknown> }>('/throws', (request) => {
    const { message, ...byField } = request.body as Record<string, string[]>
    throw new ValidationException(message === undefined ? byField : String(message))
  })
  app.post('/taken', (_, reply) =>
    reply.inertiaBack({ errors: { title: ['is taken', 'is short'] }, flash: { tries: 2 } }),
  )
  app.post('/fails', () => {
    throw new Error('secret')
  })
  return app
}

export const client = async (t: Test, options?: InertiaOptions): Promise<Client> =>
  new Client(await createApp(t, options))
