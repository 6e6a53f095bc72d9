import Fastify, { type FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { test } from 'tap'
import { createErrorServerOptions, errors, type ErrorsOptions } from '@fastify-modular/errors'
import { createApp, createThrowing, throwing } from './support/app.js'
import { documentOf, problemOf } from './support/expect.js'

const own = {
  setErrorHandler: (it: FastifyInstance) => it.setErrorHandler(() => 'mine'),
  setNotFoundHandler: (it: FastifyInstance) => it.setNotFoundHandler((_, reply) => reply.send('mine')),
}
const options = { setErrorHandler: 'errorHandler', setNotFoundHandler: 'notFoundHandler' } as const

for (const [method, set] of Object.entries(own)) {
  for (const allowErrorHandlerOverride of [true, false]) {
    test(`decisions 48 and 95: ${method} of the host, before or after ours, is a boot error that explains (overrides: ${allowErrorHandlerOverride})`, async (t) => {
      const server = { allowErrorHandlerOverride }
      const message = new RegExp(`^${method} .* errors with ${options[method as keyof typeof own]}: false`)
      const taken = { code: 'FMOD_ERRORS_HANDLER_TAKEN', message }
      await t.rejects(createApp(t, { server, before: set }), taken)
      await t.rejects(createApp(t, { server, after: set }), taken)
      const inPlugin = (it: FastifyInstance) => it.register(fp(async (scope) => void set(scope)))
      await t.rejects(createApp(t, { server, after: inPlugin }), taken)
    })
  }
}

test('decision 95: a not-found handler of a scope that has no prefix is refused, one of a prefix is not', async (t) => {
  const inScope = (prefix?: string) => (it: FastifyInstance) =>
    it.register(async (scope) => void own.setNotFoundHandler(scope), prefix === undefined ? {} : { prefix })
  await t.rejects(createApp(t, { after: inScope() }), {
    code: 'FMOD_ERRORS_HANDLER_TAKEN',
    message: /a plugin with a prefix/,
  })
  const { app } = await createApp(t, { after: inScope('/own') })
  t.equal((await app.inject('/own/x')).body, 'mine')
})

test('decision 95: an error handler of a scope below stays', async (t) => {
  const { app } = await createApp(t, {
    after: (it) => it.register(async (scope) => void scope.setErrorHandler(() => 'mine').get('/', fail)),
  })
  t.equal((await app.inject('/')).body, 'mine')
})

function fail(): never {
  throw new Error('secret of the database')
}

function rethrow(error: unknown): never {
  throw error
}

/** What an application registers before `errors`, and the routes that Fastify would answer for. */
const early: Record<string, readonly [register: (app: FastifyInstance) => unknown, names: string | null]> = {
  nothing: [() => undefined, null],
  routes: [
    (app) => app.get('/a', fail).route({ method: ['PUT', 'DELETE'], url: '/b/:id', handler: fail }),
    'GET /a, PUT,DELETE /b/:id',
  ],
  'a HEAD route': [(app) => app.head('/a', fail), 'HEAD /a'],
  'a plugin with a prefix': [
    (app) => app.register(async (scope) => void scope.get('/', fail), { prefix: '/p' }),
    'GET /p',
  ],
  'a plugin within a plugin': [
    (app) => app.register(async (scope) => void scope.register(async (inner) => void inner.post('/a', fail))),
    'POST /a',
  ],
  'a wrapped plugin': [(app) => app.register(fp(async (scope) => void scope.get('/a', fail))), 'GET /a'],
  'a route with several methods, whose HEAD is made of it': [
    (app) => app.route({ method: ['GET', 'POST'], url: '/a', handler: fail }),
    'GET,POST /a',
  ],
  'a route with a handler of its own, which may throw again': [
    (app) => app.get('/a', { errorHandler: rethrow }, fail),
    'GET /a',
  ],
  'a plugin with a handler of its own, which may throw again': [
    (app) => app.register(async (scope) => void scope.setErrorHandler(rethrow).get('/a', fail)),
    'GET /a',
  ],
  'the preflight route of a CORS plugin': [(app) => app.options('*', (_, reply) => reply.send()), null],
}

for (const [name, [register, names]] of Object.entries(early)) {
  for (const awaited of [true, false]) {
    const outcome = names === null ? 'is right' : 'stops the boot, named'
    test(`decision 88: ${name} before errors ${outcome}${awaited ? ', awaited' : ''}`, async (t) => {
      const app = Fastify()
      t.teardown(() => app.close())
      const registered = register(app)
      if (awaited) await registered
      void app.register(errors)
      app.get('/after', fail)
      if (names !== null) {
        await t.rejects(async () => app.ready(), {
          code: 'FMOD_ERRORS_REGISTERED_LATE',
          message: new RegExp(`: ${names.replaceAll('*', '\\*')}\\. Register errors first`),
        })
        return
      }
      const { statusCode, body } = await app.inject('/a')
      t.notMatch(body, 'secret', String(statusCode))
      t.notMatch((await app.inject('/after')).body, 'secret')
    })
  }
}

test('decision 88: what a handler behind errors throws again gets the answer of errors', async (t) => {
  const { app } = await createApp(t, {
    after: (it) =>
      it
        .get('/route', { errorHandler: rethrow }, fail)
        .register(async (scope) => void scope.setErrorHandler(rethrow).get('/scope', fail)),
  })
  for (const url of ['/route', '/scope']) t.notMatch(problemOf(t, await app.inject(url), 500), 'secret')
})

test('decision 88: routes outside the scope of errors are none of its business; errorHandler: false asks for none', async (t) => {
  const inScope = Fastify().get('/a', fail)
  t.teardown(() => inScope.close())
  void inScope.register(async (scope) => void scope.register(errors).get('/inner', fail), { prefix: '/api' })
  await inScope.ready()
  t.match((await inScope.inject('/a')).body, 'secret')
  t.notMatch((await inScope.inject('/api/inner')).body, 'secret')
  const off = Fastify().get('/a', fail)
  t.teardown(() => off.close())
  void off.register(errors, { errorHandler: false })
  await off.ready()
})

test('decision 48: each handler can be left to the host', async (t) => {
  const { app } = await createApp(t, {
    errors: { errorHandler: false, notFoundHandler: false },
    before: (it) => it.setErrorHandler((_error, _request, reply) => reply.code(500).send('my error')),
    after: (it) =>
      it.setNotFoundHandler((_, reply) => reply.code(404).send('my 404')).get('/', throwing(new Error('x'))),
  })
  t.equal((await app.inject('/')).body, 'my error')
  t.equal((await app.inject('/nope')).body, 'my 404')
})

test('registering twice is a boot error', async (t) => {
  await t.rejects(createApp(t, { after: (it) => it.register(errors) }), {
    code: 'FMOD_CORE_REGISTERED_TWICE',
  })
})

test('options that cannot be used are all named at boot', async (t) => {
  const options: ErrorsOptions = { typeBase: 'problems/' }
  const found = { code: 'FMOD_CORE_INVALID_OPTION', message: /typeBase/ }
  await t.rejects(createApp(t, { errors: options }), found)
  const untyped = {
    pages: true,
    errorPage: 5,
    page: 'browsers',
  } as object
  await t.rejects(createApp(t, { errors: untyped }), {
    message:
      /pages must be false, 'inertia', 'browsers' or a function.*errorPage must be.*unknown option page;? .*pages/,
  })
})

test('server options that a scaffold hands down to every plugin do not stop the boot', async (t) => {
  // fastify-cli: `module.exports.options = createErrorServerOptions()`, started with -o
  const handedDown = Object.assign({}, { logger: true, ...createErrorServerOptions() })
  const { app } = await createApp(t, { errors: handedDown as object })
  t.equal((await app.inject({ method: 'POST', url: '/nope' })).statusCode, 404)
  const misspelt = { ...handedDown, errorPages: false } as object
  await t.rejects(createApp(t, { errors: misspelt }), { message: /unknown option errorPages/ })
})

test('errors that cannot be mapped are boot errors', async (t) => {
  const { app } = await createApp(t, {
    after({ problems }) {
      const map = problems.map.bind(problems) as (...args: unknown[]) => unknown
      for (const wrong of [
        ['Error', { to: () => undefined }],
        [Error, { to: 42 }],
        [Error, { to: 'out-of-credit' }],
        [Error, 'out-of-credit'],
        [Error, () => undefined],
      ])
        t.throws(() => map(...wrong), { code: 'FMOD_ERRORS_INVALID_MAPPING' })
    },
  })
  t.ok(app.problems)
})

test('E88: mapping after the application became ready throws, in every scope', async (t) => {
  let child: typeof app.problems | undefined
  const { app } = await createApp(t, {
    after: (it) =>
      it.register(async (scope) => {
        child = scope.problems
      }),
  })
  for (const problems of [app.problems, child]) {
    t.throws(() => problems?.map(Error, { to: () => undefined }), {
      code: 'FMOD_CORE_ADDED_LATE',
      message: /map/,
    })
  }
})

test('a function as pages that throws still gives an answer', async (t) => {
  const { app } = await createThrowing(t, new Error('secret'), {
    errors: { pages: throwing(new Error('secret rule')) },
  })
  for (const url of ['/', '/nope']) {
    const answer = await app.inject({ url, headers: { accept: 'text/html' } })
    t.equal(answer.statusCode, 500)
    t.notMatch(answer.body, 'secret')
  }
})

test('the built-in page cannot be made to run what an error says', async (t) => {
  const { app } = await createThrowing(
    t,
    Object.assign(new Error('<script>alert(1)</script> $& $1 "\''), { statusCode: 400, expose: true }),
    { errors: { pages: 'browsers' } },
  )
  const html = documentOf(t, await app.inject({ url: '/', headers: { accept: 'text/html' } }), 400)
  t.match(html, '&#60;script&#62;alert(1)&#60;/script&#62; $&#38; $1 &#34;&#39;')
  t.notMatch(html, '<script')
})

test("the package's own pages keep their style under the policy of an application", async (t) => {
  const policy = "default-src 'none'; style-src 'self'"
  const { app } = await createThrowing(t, new Error('bug'), {
    errors: { pages: 'browsers' },
    before: (it) =>
      it.addHook('onSend', (_request, reply, payload, done) => {
        if (!reply.hasHeader('content-security-policy')) reply.header('content-security-policy', policy)
        done(null, payload)
      }),
  })
  for (const url of ['/', '/nope', '/error/404']) {
    const { headers, body } = await app.inject({ url, headers: { accept: 'text/html' } })
    t.match(body, '<style>')
    const own = String(headers['content-security-policy'])
    t.match(own, /default-src 'none'; style-src 'unsafe-inline'.*frame-ancestors 'none'/, url)
  }
  const program = await app.inject({ url: '/', headers: { accept: 'application/json' } })
  t.equal(program.headers['content-security-policy'], policy)
  const visit = await app.inject({ url: '/', headers: { 'x-inertia': 'true' } })
  t.equal(visit.headers['content-security-policy'], policy)
})

test('the plugin is the default export too, and works in an application without a logger', async (t) => {
  const { default: plugin } = await import('@fastify-modular/errors')
  t.equal(plugin, errors)
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(plugin)
  problemOf(t, await app.inject({ method: 'POST', url: '/nope' }), 404)
})
