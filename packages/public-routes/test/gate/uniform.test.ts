/** What an anonymous caller learns about a path: nothing. Whole answers, as they come from the socket, are compared. */
import type { AuthProvider } from '@fastify-modular/public-routes'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { test, type Test } from 'tap'
import { gatedApp, listen } from '../support/application.ts'
import { rawRequest } from '../support/raw-request.ts'

/** A path that no route matches, as long as the other: both stand in their answers. */
const missingLike = (target: string): string => `/${'m'.repeat(target.length - 1)}`

const existing: Readonly<Record<string, string>> = {
  'a static path': '/static-path',
  'a path with a parameter': '/parameter/42',
  'a path below a wildcard': '/wildcard/a/b',
  'a path that a regular expression matches': '/numbers/42',
  'the root of a prefix': '/section/',
  'a path for HEAD alone': '/head',
}

function addRoutes(app: FastifyInstance): void {
  const secret = async () => 'secret'
  for (const url of ['/static-path', '/parameter/:id', '/wildcard/*', '/numbers/:n(^\\d+$)']) {
    app.get(url, secret)
    app.route({ method: ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'], url, handler: secret })
  }
  app.head('/head', secret)
  void app.register(async (scope) => void scope.get('/', secret), { prefix: '/section' })
}

const clients: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'a browser': { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'sec-fetch-mode': 'navigate' },
  'an Inertia page': { 'x-inertia': 'true', accept: 'text/html, application/xhtml+xml' },
  'any other client': { accept: '*/*' },
}

const fails = async (): Promise<null> => {
  throw new Error('the session store is down')
}

const providers: Readonly<Record<string, AuthProvider>> = {
  'with a login page': { authenticate: () => null, loginUrl: '/login' },
  'with an external login': { authenticate: () => null, loginUrl: 'https://id.example.com/' },
  'without a login': { authenticate: async () => null },
  'whose provider fails': { authenticate: fails, loginUrl: '/login' },
}

/** Everything that differs by itself or repeats the request is made equal. */
async function answerTo(port: number, method: string, target: string, headers: Record<string, string>) {
  const { status, headers: received, body } = await rawRequest({ port, method, target, headers })
  const lines = [...received].filter(([name]) => name !== 'date').map(([name, value]) => `${name}: ${value}`)
  const answer = [status, ...lines, '', body].join('\n')
  return answer.replaceAll(encodeURIComponent(target), '').replaceAll(`"${target}"`, '')
}

async function gated(t: Test, provider: AuthProvider): Promise<number> {
  const app = await gatedApp(t, { provider, defaults: false }, { genReqId: () => 'request' })
  app.get('/login', { config: { access: 'public' } }, async () => 'login')
  addRoutes(app)
  return listen(app)
}

for (const [setting, provider] of Object.entries(providers)) {
  test(`decision 61: a gate ${setting} answers alike for existing and missing paths`, async (t) => {
    const port = await gated(t, provider)
    for (const [client, headers] of Object.entries(clients)) {
      for (const method of ['HEAD', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        for (const [name, target] of Object.entries(existing)) {
          const expected = await answerTo(port, method, missingLike(target), headers)
          t.notMatch(expected, /^(200|404)/)
          const answer = await answerTo(port, method, target, headers)
          t.equal(answer, expected, `${method} of ${client}: ${name}`)
        }
      }
    }
  })
}

/** What a module brings along, beside a route that strangers may not call. */
interface Own {
  readonly scope?: (scope: FastifyInstance) => void
  readonly route?: object
  readonly provider?: AuthProvider
}

const mark = async (_request: unknown, reply: FastifyReply) => void reply.header('x-module', 'admin')
const handleErrors = (scope: FastifyInstance) =>
  void scope.setErrorHandler((_error, _request, reply) => reply.code(500).send('of the module'))

const unseen: Readonly<Record<string, Own>> = {
  'hooks before its handler': {
    scope: (scope) => {
      scope.addHook('onRequest', mark)
      scope.addHook('preHandler', mark)
      scope.addHook('onError', mark)
    },
  },
  'an error handler': { scope: handleErrors },
  'a schema of its answers': { route: { schema: { response: { 401: { type: 'null' } } } } },
}

const seen: Readonly<Record<string, Own>> = {
  'an onSend hook in its scope': { scope: (scope) => void scope.addHook('onSend', mark) },
  'an onSend hook of its own': { route: { onSend: mark } },
  'an error handler, while the provider fails': { scope: handleErrors, provider: { authenticate: fails } },
  'a time limit of its own, while the provider hangs': {
    route: { handlerTimeout: 1 },
    provider: { authenticate: () => new Promise(() => {}) },
  },
}

for (const [what, own] of Object.entries({ ...unseen, ...seen })) {
  const isSeen = Object.hasOwn(seen, what)
  test(`a protected route with ${what} ${isSeen ? 'differs from' : 'is answered like'} a missing path`, async (t) => {
    const provider = own.provider ?? { authenticate: () => null }
    const app = await gatedApp(t, { provider, timeout: 100 }, { genReqId: () => 'request' })
    app.addHook('onSend', async (_request, reply) => void reply.header('x-application', 'all'))
    await app.register(async (scope) => {
      own.scope?.(scope)
      scope.get('/admin/users', { ...own.route }, async () => 'secret')
    })
    const port = await listen(app)
    const headers = clients['a browser'] ?? {}
    const existing = await answerTo(port, 'GET', '/admin/users', headers)
    const missing = await answerTo(port, 'GET', missingLike('/admin/users'), headers)
    t.match(missing, 'x-application: all')
    t.equal(existing !== missing, isSeen, existing)
  })
}
