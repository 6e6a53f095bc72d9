/** How the gate and the errors plugin refuse people and programs together: pages, mappings, and nothing about what exists. */
import { ForbiddenException, UnauthorizedException, ValidationException } from '@fastify-modular/core'
import { errors, type ErrorsOptions, toProblem } from '@fastify-modular/errors'
import { type FlashEntry, inertia } from '@fastify-modular/inertia'
import { type AuthProvider, publicRoutes } from '@fastify-modular/public-routes'
import { setting, settings, SettingScope } from '@fastify-modular/settings'
import Fastify, { type FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'sec-fetch-mode': 'navigate' }
const providers: Readonly<Record<401 | 403 | 503, AuthProvider['authenticate']>> = {
  401: () => null,
  403: () => ({ id: 'ada' }),
  503: () => {
    throw new Error('the session store is down')
  },
}

const scheme = 'Cookie realm="app"'

interface Setup {
  readonly status: keyof typeof providers
  readonly options?: ErrorsOptions
  readonly map?: ((app: FastifyInstance) => unknown) | undefined
  readonly isLate?: boolean
}

async function gated(
  t: Test,
  { status, options = {}, map, isLate = false }: Setup,
): Promise<FastifyInstance> {
  const app = Fastify({ genReqId: () => 'r1' })
  t.teardown(() => app.close())
  const register = async () => {
    await app.register(errors, { errorPage: false, ...options })
    map?.(app)
  }
  if (!isLate) await register()
  await app.register(publicRoutes, {
    provider: { authenticate: providers[status], challenge: () => scheme },
    permissions: { 'Pages.Read': 'Read pages' },
  })
  if (isLate) await register()
  for (const url of ['/page', '/api/x'])
    app.get(url, { config: { access: 'Pages.Read' } }, async () => 'secret')
  await app.register(
    async (scope) => {
      const flash = { put: () => {}, get: (): FlashEntry | null => null }
      await scope.register(inertia, { share: { menu: ['Invoices'] }, version: 'v9', flash })
      scope.setErrorHandler((_error, _request, reply) => reply.code(500).send('the handler of a scope'))
      scope.get('/', { config: { access: 'Pages.Read' } }, async () => 'secret')
    },
    { prefix: '/scope' },
  )
  return app
}

for (const status of [401, 403, 503] as const) {
  for (const isLate of [false, true]) {
    test(`decision 86: pages for browsers, without a login page: ${status} is a page for people (errors ${isLate ? 'after' : 'before'} the gate)`, async (t) => {
      const app = await gated(t, { status, options: { pages: 'browsers' }, isLate })
      const page = await app.inject({ url: '/page', headers: browser })
      t.equal(page.statusCode, status)
      t.match(page.headers['content-type'], /^text\/html/)
      t.equal(page.headers['cache-control'], 'no-store')
      t.match(page.headers.vary, /(?=.*accept)(?=.*cookie)(?=.*authorization)(?=.*x-inertia)/i)
      t.equal(page.headers['www-authenticate'], status === 401 ? scheme : undefined)
      const visit = await app.inject({ url: '/page', headers: { 'x-inertia': 'true' } })
      t.equal(visit.json<{ component: string }>().component, `Error/${status}`)
      for (const headers of [
        {},
        { accept: '*/*' },
        { ...browser, 'sec-fetch-mode': 'cors' },
        { ...browser, authorization: 'Bearer x' },
      ])
        t.equal(
          (await app.inject({ url: '/page', headers })).headers['content-type'],
          'application/problem+json',
        )
      t.equal(
        (await app.inject({ url: '/api/x', headers: browser })).headers['content-type'],
        'application/problem+json',
      )
    })
  }

  test(`without pages for browsers ${status} stays a problem for browsers`, async (t) => {
    const app = await gated(t, { status })
    const answer = await app.inject({ url: '/page', headers: browser })
    t.equal(answer.statusCode, status)
    t.equal(answer.headers['content-type'], 'application/problem+json')
  })
}

const maps: Readonly<Record<string, Setup['map']>> = {
  'is the same for existing and missing paths, whatever handler and pages a scope has': undefined,
  'that the application maps to errors of a form is the same for existing and missing paths': (app) =>
    app.problems.map(() => true, { to: () => ({ status: 422, extensions: { errors: { name: ['no'] } } }) }),
}

for (const [name, map] of Object.entries(maps))
  test(`decision 86: the page for 401 ${name}`, async (t) => {
    const app = await gated(t, { status: 401, options: { pages: 'browsers' }, map })
    const answerTo = async (url: string, headers: Record<string, string>) => {
      const { statusCode, headers: received, body } = await app.inject({ url, headers })
      return [statusCode, { ...received, date: '' }, body.replaceAll(url, '')]
    }
    for (const headers of [browser, { 'x-inertia': 'true' }, {}])
      for (const url of ['/page', '/scope'])
        t.same(await answerTo(url, headers), await answerTo(`/${'m'.repeat(url.length - 1)}`, headers), url)
  })

for (const [status, like] of [
  [403, '/page'],
  [503, '/missing'],
] as const) {
  test(`${status} is the page of the application, whatever handler and pages the scope of a route has`, async (t) => {
    const app = await gated(t, { status, options: { pages: 'browsers' } })
    for (const headers of [browser, { 'x-inertia': 'true' }]) {
      const [scope, other] = [
        await app.inject({ url: '/scope', headers }),
        await app.inject({ url: like, headers }),
      ]
      t.equal(scope.statusCode, status)
      const same = { date: '', 'content-length': '' } // the path is in the body
      t.same({ ...scope.headers, ...same }, { ...other.headers, ...same })
      t.equal(scope.body.replaceAll('/scope', ''), other.body.replaceAll(like, ''))
    }
  })
}

test('headers that the application maps to a refusal are sent', async (t) => {
  for (const status of [401, 403, 503] as const) {
    const map = (app: FastifyInstance) =>
      app.problems.map(() => true, { to: () => ({ status, headers: { 'retry-after': '9' } }) })
    const app = await gated(t, { status, map, options: { pages: 'browsers' } })
    for (const headers of [{}, browser]) {
      const answer = await app.inject({ url: '/page', headers })
      t.equal(answer.statusCode, status)
      t.equal(answer.headers['retry-after'], '9', `${status}`)
    }
  }
})

test('a login page is still where people go', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(errors, { errorPage: false, pages: 'browsers' })
  await app.register(publicRoutes, { provider: { authenticate: () => null, loginUrl: '/login' } })
  app.get('/login', { config: { access: 'public' } }, async () => 'login')
  t.equal((await app.inject({ url: '/page', headers: browser })).statusCode, 302)
})

test('errorHandler: false leaves 401 to the gate, for people too', async (t) => {
  const app = await gated(t, { status: 401, options: { pages: 'browsers', errorHandler: false } })
  const answer = await app.inject({ url: '/page', headers: browser })
  t.equal(answer.headers['content-type'], 'application/problem+json')
})

test('what the application maps of the gate is answered as it says: 401 and 403 with the old member', async (t) => {
  const map = (app: FastifyInstance) =>
    app.problems
      .map(UnauthorizedException, {
        to: () => ({
          status: 401,
          code: 'SIGN_IN',
          detail: 'Sign in.',
          extensions: { message: 'Sign in.' },
        }),
      })
      .map(ForbiddenException, {
        to: (error) => ({
          status: 403,
          code: 'NO',
          extensions: { message: error.message },
        }),
      })
  for (const isLate of [false, true]) {
    const strangers = await gated(t, { status: 401, map, isLate })
    for (const url of ['/page', '/scope', '/miss']) {
      const { statusCode, headers, body } = await strangers.inject(url)
      t.equal(statusCode, 401)
      t.equal(headers['www-authenticate'], scheme)
      t.match(JSON.parse(body), {
        code: 'SIGN_IN',
        type: 'urn:problem:sign-in',
        detail: 'Sign in.',
        message: 'Sign in.',
      })
    }
    const known = await gated(t, { status: 403, map, isLate })
    t.match((await known.inject('/page')).json(), { code: 'NO', message: /Pages\.Read/ })
  }
})

test('the recipe of the guide keeps the member "message" of Fastify, in the answers of the gate, too', async (t) => {
  const map = (app: FastifyInstance) =>
    app.problems.map(() => true, {
      to: (error) => {
        const problem = toProblem(error, { typeBase: app.problems.typeBase })
        const isValidation = error instanceof Error && 'validation' in error
        const message = problem.status >= 500 ? problem.title : isValidation ? error.message : problem.detail
        return { ...problem, extensions: { ...problem.extensions, message } }
      },
    })
  const strangers = await gated(t, { status: 401, map })
  t.match((await strangers.inject('/page')).json(), { message: 'Sign in to access this resource.' })
  const app = await gated(t, { status: 403, map })
  t.match((await app.inject('/page')).json(), { message: 'This needs the permission Pages.Read.' })
  const plain = Fastify()
  t.teardown(() => plain.close())
  await plain.register(errors, { typeBase: 'https://example.com/problems/' })
  map(plain)
  const schema = { body: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } } }
  plain.post('/', { schema }, async () => {
    throw new Error('secret')
  })
  const answerTo = async (payload: object) =>
    (await plain.inject({ method: 'POST', url: '/', payload })).json()
  t.match(await answerTo({}), {
    status: 400,
    message: "body must have required property 'n'",
    errors: { n: [String] },
  })
  t.match(await answerTo({ n: 1 }), { status: 500, message: 'Internal Server Error' })
  t.match(await answerTo({ n: 'x' }), { type: 'https://example.com/problems/validation' })
})

test('what the API of settings refuses never leads back to a form, below whatever prefix', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const caller = { id: 'ada', permissions: ['Settings.Update'] }
  await app.register(errors, { errorPage: false })
  await app.register(inertia, { flash: { put: () => {}, get: () => null } })
  await app.register(settings, {
    definitions: [
      setting.number('shop.limit', { displayName: 'Limit', scope: SettingScope.Application, default: 3 }),
    ],
    prefix: '/own',
    findCaller: () => caller,
  })
  app.post('/throws', () => {
    throw new ValidationException({ a: ['is wrong'] })
  })
  const headers = { 'x-inertia': 'true', host: 'app.test', referer: 'http://app.test/' }
  t.equal((await app.inject({ method: 'POST', url: '/throws', headers })).statusCode, 303)
  const refused = await app.inject({
    method: 'PUT',
    url: '/own',
    payload: {},
    headers,
  })
  t.equal(refused.statusCode, 400)
})
