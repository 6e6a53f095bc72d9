import Fastify from 'fastify'
import { test } from 'tap'
import { createErrorServerOptions, errors, type ErrorsOptions } from '@fastify-modular/errors'
import { createApp, createThrowing } from './support/app.js'
import { documentOf, problemOf } from './support/expect.js'

test('decision 48: an error handler of the host before or after ours is a boot error that explains', async (t) => {
  const taken = createApp(t, { before: (it) => it.setErrorHandler(() => 'mine') })
  await t.rejects(taken, {
    code: 'FMOD_ERRORS_HANDLER_TAKEN',
    message: /setErrorHandler.*errorHandler: false/,
  })
  const replaced = createApp(t, {
    server: { allowErrorHandlerOverride: true },
    after: (it) => it.setErrorHandler(() => 'mine'),
  })
  await t.rejects(replaced, { code: 'FMOD_ERRORS_HANDLER_REPLACED', message: /setErrorHandler/ })
  const strict = createApp(t, {
    server: { allowErrorHandlerOverride: false },
    before: (it) => it.setErrorHandler(() => 'mine'),
  })
  await t.rejects(strict, { code: 'FMOD_ERRORS_HANDLER_TAKEN' })
})

test('decision 48: a not-found handler of the host before ours is a boot error that explains', async (t) => {
  const taken = createApp(t, { before: (it) => it.setNotFoundHandler((_, reply) => reply.send('mine')) })
  await t.rejects(taken, {
    code: 'FMOD_ERRORS_HANDLER_TAKEN',
    message: /setNotFoundHandler.*notFoundHandler: false/,
  })
  const later = createApp(t, { after: (it) => it.setNotFoundHandler((_, reply) => reply.send('mine')) })
  await t.rejects(later, { message: /already set/ })
})

test('decision 48: each handler can be left to the host', async (t) => {
  const { app } = await createApp(t, {
    errors: { errorHandler: false, notFoundHandler: false },
    before: (it) => it.setErrorHandler((_error, _request, reply) => reply.code(500).send('my error')),
    after: (it) =>
      it
        .setNotFoundHandler((_, reply) => reply.code(404).send('my 404'))
        .get('/', () => {
          throw new Error('x')
        }),
  })
  t.equal((await app.inject('/')).body, 'my error')
  t.equal((await app.inject('/nope')).body, 'my 404')
})

test('registering twice is a boot error', async (t) => {
  await t.rejects(createApp(t, { after: (it) => it.register(errors) }), {
    code: 'FMOD_ERRORS_REGISTERED_TWICE',
  })
})

test('options that cannot be used are all named at boot', async (t) => {
  const options: ErrorsOptions = { typeBase: 'problems/', renderTimeout: 0 }
  const found = { code: 'FMOD_ERRORS_INVALID_OPTION', message: /typeBase.*renderTimeout/ }
  await t.rejects(createApp(t, { errors: options }), found)
  await t.rejects(createApp(t, { errors: { renderTimeout: Number.POSITIVE_INFINITY } }), {
    message: /renderTimeout/,
  })
  const untyped = {
    pagesForBrowsers: 'yes',
    unmatchedPages: true,
    errorPage: 5,
    errorRoutes: 1,
    pageForBrowsers: true,
  } as object
  await t.rejects(createApp(t, { errors: untyped }), {
    message:
      /errorPage must be.*pagesForBrowsers must be.*unmatchedPages must be.*errorRoutes must be.*unknown option pageForBrowsers/,
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

test('exposeDebug shows a defect to developers and is refused in production', async (t) => {
  const { app } = await createThrowing(t, new Error('bug', { cause: new Error('why') }), {
    errors: { exposeDebug: true },
  })
  const body = problemOf(t, await app.inject('/'), 500)
  t.match(body['debug'], { name: 'Error', message: 'bug', stack: /boot\.test/, cause: { message: 'why' } })
  const { NODE_ENV } = process.env
  process.env['NODE_ENV'] = 'production'
  t.teardown(() => {
    if (NODE_ENV === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = NODE_ENV
  })
  await t.rejects(createApp(t, { errors: { exposeDebug: true } }), {
    code: 'FMOD_ERRORS_DEBUG_IN_PRODUCTION',
  })
})

test('problems that cannot be defined or mapped are boot errors', async (t) => {
  const { app } = await createApp(t, {
    after({ problems }) {
      const define = problems.define.bind(problems) as (slug: string, definition: object) => unknown
      const map = problems.map.bind(problems) as (...args: unknown[]) => unknown
      const sound = { status: 402, title: 'Out of credit' }
      define('sound', sound)
      t.throws(() => define('Not_Kebab', sound), { code: 'FMOD_ERRORS_INVALID_PROBLEM', message: /kebab/ })
      t.throws(() => define('ok', { ...sound, status: 200 }), {
        code: 'FMOD_ERRORS_INVALID_PROBLEM',
        message: /status/,
      })
      t.throws(() => define('ok', { ...sound, title: '' }), {
        code: 'FMOD_ERRORS_INVALID_PROBLEM',
        message: /title/,
      })
      t.throws(() => define('sound', sound), { code: 'FMOD_ERRORS_DUPLICATE_PROBLEM', message: /"sound"/ })
      t.throws(() => map(Error, 'unknown'), { code: 'FMOD_ERRORS_UNKNOWN_PROBLEM', message: /"unknown"/ })
      t.throws(() => map('Error', 'sound'), { code: 'FMOD_ERRORS_INVALID_MAPPING' })
      t.throws(() => map(Error, 42), { code: 'FMOD_ERRORS_INVALID_MAPPING' })
      t.throws(() => map(Error, 'sound', 42), { code: 'FMOD_ERRORS_INVALID_MAPPING' })
    },
  })
  t.ok(app.problems)
})

test('E88: defining or mapping after the application became ready throws, in every scope', async (t) => {
  let child: typeof app.problems | undefined
  const { app } = await createApp(t, {
    after: (it) =>
      it.register(async (scope) => {
        child = scope.problems
      }),
  })
  for (const problems of [app.problems, child]) {
    t.throws(() => problems?.map(Error, () => undefined), { code: 'FMOD_ERRORS_CLOSED', message: /map/ })
  }
})

test('pagesForBrowsers answers navigations outside /api by pages', async (t) => {
  const fail = () => {
    throw Object.assign(new Error('secret'), { statusCode: 403 })
  }
  const { app } = await createApp(t, {
    errors: { pagesForBrowsers: true },
    after: (it) => it.get('/page', fail).get('/api/x', fail).get('/apix', fail).post('/page', fail),
  })
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
  const html = documentOf(t, await app.inject({ url: '/page', headers: { accept } }), 403)
  t.match(html, 'You do not have permission')
  documentOf(t, await app.inject({ url: '/apix', headers: { accept } }), 403)
  documentOf(t, await app.inject({ method: 'POST', url: '/page', headers: { accept } }), 403)
  problemOf(t, await app.inject({ url: '/api/x', headers: { accept } }), 403)
  problemOf(t, await app.inject({ url: '/page', headers: { accept: '*/*' } }), 403)
  problemOf(t, await app.inject({ url: '/page', headers: { accept, 'sec-fetch-mode': 'cors' } }), 403)
})

test('pagesForBrowsers may be the host’s own rule, and a rule that throws still gives an answer', async (t) => {
  const create = (pagesForBrowsers: () => boolean) =>
    createThrowing(t, new Error('secret'), { errors: { pagesForBrowsers } })
  const accept = 'text/html'
  const own = await create(() => true)
  documentOf(t, await own.app.inject({ url: '/', headers: { accept } }), 500)
  const broken = await create(() => {
    throw new Error('secret rule')
  })
  const answer = await broken.app.inject({ url: '/', headers: { accept } })
  t.equal(answer.statusCode, 500)
  t.notMatch(answer.body, 'secret')
})

test('the built-in page cannot be made to run what an error says', async (t) => {
  const { app } = await createThrowing(
    t,
    Object.assign(new Error('<script>alert(1)</script> $& $1 "\''), { statusCode: 400, expose: true }),
    { errors: { pagesForBrowsers: true } },
  )
  const html = documentOf(t, await app.inject({ url: '/', headers: { accept: 'text/html' } }), 400)
  t.match(html, '&lt;script&gt;alert(1)&lt;/script&gt; $&amp; $1')
  t.notMatch(html, '<script')
})

test('the plugin is the default export too, and works in an application without a logger', async (t) => {
  const { default: plugin } = await import('@fastify-modular/errors')
  t.equal(plugin, errors)
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(plugin)
  problemOf(t, await app.inject({ method: 'POST', url: '/nope' }), 404)
})
