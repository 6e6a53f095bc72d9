import { connect } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { test } from 'tap'
import type { Caller } from '@fastify-modular/core'
import { branded } from '@fastify-modular/core/internal'
import { settings } from '@fastify-modular/settings'
import {
  admin,
  as,
  callerByHeader,
  createApp,
  definitions,
  logInto,
  rejection,
  routesOf,
} from '../support/app.ts'

test('decision 52: the caller is request.caller where the application has it', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(settings, { definitions: [definitions] })
  const caller: { value: Caller | null } = { value: null }
  app.decorateRequest('caller', { getter: () => caller.value })
  await app.ready()
  t.equal((await app.inject('/api/settings')).statusCode, 401)
  caller.value = admin
  t.equal((await app.inject('/api/settings')).statusCode, 200)
})

test('the boot refuses routes from before the caller was declared: no request could find it', async (t) => {
  const declared = async (options: object) => {
    const app = Fastify()
    t.teardown(() => app.close())
    await app.register(settings, { definitions: [definitions], ...options })
    app.decorateRequest('caller', null) // as the gate does
    await app.ready()
    return app
  }
  await t.rejects(declared({}), { code: 'FMOD_SETTINGS_CALLER_DECLARED_LATER' })
  await declared({ routes: false })
  const app = await declared({ findCaller: () => admin })
  t.equal((await app.inject('/api/settings')).statusCode, 200)
})

test('the option caller may be asynchronous, and fails closed', async (t) => {
  const answers: Record<string, () => Promise<Caller | null>> = {
    known: async () => admin,
    nobody: async () => null,
    broken: () => Promise.reject(new Error('the session store is down')),
    rubbish: async () => ({ id: '', permissions: ['*'], isAdmin: true }),
  }
  const app = await createApp(t, {
    findCaller: (request) => {
      const name = String(request.headers['x-name'])
      if (name === 'throws') throw new Error('synchronously')
      return answers[name]?.() ?? null
    },
  })
  const status = async (name: string) =>
    (await app.inject({ url: '/api/settings', headers: { 'x-name': name } })).statusCode
  t.same(
    await Promise.all(['known', 'nobody', 'broken', 'rubbish', 'throws', 'x'].map(status)),
    [200, 401, 500, 401, 500, 401],
  )
})

test('a caller whose id is a number, which JavaScript allows, is 401 and a line in the log', async (t) => {
  const lines: string[] = []
  const caller = { id: 7, permissions: ['*'] } as unknown as Caller
  const app = await createApp(t, { findCaller: () => caller }, logInto(lines))
  lines.length = 0
  t.equal((await app.inject('/api/settings')).statusCode, 401)
  t.match(lines, [/the id of a caller is a number/])
})

test('routes: false serves nothing', async (t) => {
  const none = await createApp(t, { routes: false })
  t.equal((await none.inject({ url: '/api/settings', headers: { 'x-caller': 'admin' } })).statusCode, 404)
})

test('the prefix of register is where the routes are, and the boot log names the address', async (t) => {
  const lines: string[] = []
  const { logger } = logInto(lines, 'info')
  for (const [scope, prefix, address] of [
    ['', undefined, '/api/settings'],
    ['', '/v2/settings', '/v2/settings'],
    ['/tenant', '/v2/settings', '/tenant/v2/settings'],
  ] as const) {
    lines.length = 0
    const app = Fastify({ logger })
    t.teardown(() => app.close())
    app.register(
      async (tenant) => {
        const options = { definitions: [definitions], findCaller: callerByHeader, ...(prefix && { prefix }) }
        await tenant.register(settings, options)
      },
      { prefix: scope },
    )
    await app.ready()
    const status = async (url: string) =>
      (await app.inject({ url, headers: { 'x-caller': 'admin' } })).statusCode
    t.equal(await status(`${address}/me`), 200, address)
    t.equal(await status(address), 200, address)
    if (address !== '/api/settings') t.equal(await status('/api/settings'), 404)
    t.match(
      lines.map((line) => JSON.parse(line)),
      [{ msg: 'settings are served', url: address }],
    )
  }
  const unreachable = [
    '/a?b',
    '/a#b',
    '/%61',
    '/a b',
    '/a/../b',
    '/.',
    '/ä',
    '/a*',
    '/a\\b',
    '/a\n',
    '/a::b',
    '/a:',
  ]
  for (const prefix of ['', '/', 'settings', '/settings/', '//settings', ...unreachable])
    t.match(
      await rejection(createApp(t, { prefix })),
      { error: { code: 'FMOD_CORE_INVALID_OPTION', message: /prefix must be a path such as/ } },
      prefix,
    )
})

test('settings whose routes an OpenAPI document lacks say so at boot', async (t) => {
  const lines: string[] = []
  const { logger } = logInto(lines)
  const swagger = fp(async (app: FastifyInstance) => void app.decorate('swagger', () => ({})))
  for (const [isFirst, warnings] of [
    [true, 0],
    [false, 1],
  ] as const) {
    lines.length = 0
    const app = Fastify({ logger })
    t.teardown(() => app.close())
    if (isFirst) app.register(swagger)
    app.register(settings, { definitions: [definitions], findCaller: callerByHeader })
    if (!isFirst) app.register(swagger)
    await app.ready()
    t.equal(
      lines.filter((line) => line.includes('register @fastify/swagger before settings')).length,
      warnings,
    )
  }
})

test('with the errors plugin, failures are answered by its handler', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.decorate('problems', branded({}))
  app.setErrorHandler((error, _request, reply) =>
    reply.code(418).send({ seen: (error as { code?: string }).code }),
  )
  await app.register(settings, { definitions: [definitions] })
  await app.ready()
  const got = await app.inject('/api/settings')
  t.equal(got.statusCode, 418)
  t.same(got.json(), { seen: 'UNAUTHORIZED' })
})

test('an unexpected failure is 500 without its message, and is logged', async (t) => {
  const lines: string[] = []
  const app = await createApp(
    t,
    {
      findCaller: () => {
        throw new Error('postgres://user:hunter2@db')
      },
    },
    logInto(lines, 'error'),
  )
  const got = await app.inject('/api/settings')
  t.equal(got.statusCode, 500)
  t.equal(got.headers['content-type'], 'application/problem+json')
  t.notMatch(got.payload, /hunter2|postgres/)
  t.equal(lines.length, 1)
})

test('GET /public has the values of public definitions for every caller, with a strong tag', async (t) => {
  const app = await createApp(t)
  const nobody = as(app, null)
  const first = await nobody('GET', '/public')
  t.same(first.json, { 'app.primary_color': '#3b82f6' })
  t.equal(first.headers['cache-control'], 'no-cache')
  const tag = String(first.headers.etag)
  t.match(tag, /^"/)
  t.equal((await nobody('GET', '/public', undefined, { 'if-none-match': tag })).status, 304)
  await as(app, 'editor')('PUT', '', { key: 'app.primary_color', scope: 1, value: '#000000' })
  const second = await nobody('GET', '/public', undefined, { 'if-none-match': tag })
  t.same(second.json, { 'app.primary_color': '#000000' })
  t.equal((await nobody('PUT', '/public', {})).status, 404, 'no other verb')
})

test('decision 18: a sensitive System value resolves for administrators only, and the log says who read it', async (t) => {
  const lines: string[] = []
  const app = await createApp(t, {}, logInto(lines, 'info'))
  await as(app, 'admin')('PUT', '', { key: 'mail.password', scope: 0, value: 'hunter2' })
  t.equal((await as(app, 'admin')('GET', '/mail.password/resolved')).text, '"hunter2"')
  const refused = await as(app, 'editor')('GET', '/mail.password/resolved')
  t.equal(refused.status, 403)
  t.notMatch(refused.text, /hunter2/)
  const reads = lines.filter((line) => line.includes('sensitive setting was read'))
  t.equal(reads.length, 1)
  t.match(JSON.parse(String(reads[0])), { key: 'mail.password', caller: 'admin' })
  t.notMatch(lines.join(''), /hunter2/)
})

test('S 2.7, decision 18: resolvedSecrets decides who gets inherited secrets', async (t) => {
  const expected = {
    'signed-in': { alice: 200, editor: 200, own: 200 },
    owner: { alice: 403, editor: 403, own: 200 },
    permission: { alice: 403, editor: 200, own: 200 },
  }
  for (const mode of ['signed-in', 'owner', 'permission'] as const) {
    const app = await createApp(t, { resolvedSecrets: mode, selfService: true })
    await as(app, 'editor')('PUT', '', { key: 'app.api_secret', scope: 1, value: 'hunter2' })
    await as(app, 'alice')('PUT', '/me', { key: 'user.token', value: 'mine' })
    const status = {
      alice: (await as(app, 'alice')('GET', '/app.api_secret/resolved')).status,
      editor: (await as(app, 'editor')('GET', '/app.api_secret/resolved')).status,
      own: (await as(app, 'alice')('GET', '/user.token/resolved')).status,
    }
    t.same(status, expected[mode], mode)
  }
})

test('every route is described: operation, tag, summary, problems', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const described: { method: string; operationId: unknown }[] = []
  app.addHook('onRoute', ({ method, schema, url }) => {
    if (method === 'HEAD' || (schema && 'hide' in schema)) return
    const { operationId, tags, summary, response } = schema as {
      operationId: string
      tags: string[]
      summary: string
      response: Record<string, { content?: object }>
    }
    described.push({ method: String(method), operationId })
    t.same(tags, ['settings'], url)
    t.ok(summary, url)
    t.ok(response[401]?.content && 'application/problem+json' in response[401].content, url)
    t.ok(response[200] ?? response[204], url)
  })
  await app.register(settings, { definitions: [definitions], findCaller: () => null })
  await app.ready()
  t.equal(described.length, 23)
  t.equal(new Set(described.map(({ operationId }) => operationId)).size, 23)
})

test('what hooks of the host put into Vary stays there', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('vary', 'Origin')
    done()
  })
  const german = { translate: () => undefined, locales: ['de'] }
  app.register(settings, { definitions: [definitions], findCaller: callerByHeader, ...german })
  await app.ready()
  t.equal((await as(app, 'alice')('GET', '')).headers.vary, 'Origin, Cookie, Authorization, Accept-Encoding')
  t.equal(
    (await as(app, 'alice')('GET', '/definitions')).headers.vary,
    'Origin, Accept-Language, Accept-Encoding',
  )
})

test('the root has one spelling, that of the prefix', async (t) => {
  const app = await createApp(t)
  const urls = routesOf(app).map(({ url }) => url)
  t.ok(urls.includes('/api/settings'))
  t.notOk(urls.includes('/api/settings/'))
})

test('a hook that a plugin of the host adds to every route runs once', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  let runs = 0
  app.addHook('onRoute', (route) => {
    const own = [route.onRequest ?? []].flat()
    own.push((_request, _reply, done) => {
      runs++
      done()
    })
    route.onRequest = own
  })
  app.register(settings, { definitions: [definitions], findCaller: callerByHeader })
  await app.ready()
  for (const url of ['/api/settings', '/api/settings/me']) {
    runs = 0
    t.equal((await app.inject({ url, headers: { 'x-caller': 'admin' } })).statusCode, 200, url)
    t.equal(runs, 1, url)
  }
})

test('over a raw socket: keys are compared after one decoding, static routes win, half a body writes nothing', async (t) => {
  const app = await createApp(t)
  const { port } = await listen(app)
  const line = (target: string) =>
    `GET ${target} HTTP/1.1\r\nHost: x\r\nx-caller: alice\r\nConnection: close\r\n\r\n`
  t.match(
    await exchange(port, line('/api/settings/app%2Etitle?scope=1')),
    /^HTTP\/1\.1 200 [^]*"key":"app\.title"/,
  )
  t.match(await exchange(port, line('/api/settings/app%252Etitle?scope=1')), /^HTTP\/1\.1 404 /)
  t.match(
    await exchange(port, line('/api/settings/me/resolved')),
    /^HTTP\/1\.1 404 [^]*Resource not found/,
    'no setting may be named me',
  )
  t.match(await exchange(port, line(`/api/settings/${'k'.repeat(101)}?scope=1`)), /^HTTP\/1\.1 4\d\d /)
  t.match(await exchange(port, line('/api/settings/../settings/app.title?scope=1')), /^HTTP\/1\.1 4\d\d /)
  const half =
    'PUT /api/settings HTTP/1.1\r\nHost: x\r\nx-caller: admin\r\nContent-Type: application/json\r\nContent-Length: 60\r\n\r\n{"key":"app.title","scope":1,"value":"half"}'
  await exchange(port, half, true)
  t.equal(app.settings.status.revision, 0)
})

async function listen(app: FastifyInstance): Promise<{ port: number }> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  const address = app.server.address()
  return { port: typeof address === 'object' && address ? address.port : 0 }
}

/** Sends bytes and returns what comes back until the connection ends; `cut` ends it from here. */
function exchange(port: number, bytes: string, cut = false): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => (cut ? socket.end(bytes) : socket.write(bytes)))
    socket.setTimeout(60_000, () => socket.destroy(new Error('no answer')))
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')))
    socket.on('error', reject)
    socket.on('close', () => resolve(answer))
  })
}
