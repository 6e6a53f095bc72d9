/** What an anonymous caller learns about a path: nothing. Whole answers, as they come from the socket, are compared. */
import type { AuthProvider } from '@fastify-modular/public-routes'
import type { FastifyInstance } from 'fastify'
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
