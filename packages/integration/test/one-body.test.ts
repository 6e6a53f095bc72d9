/** The same failure has the same body, whether settings, the errors plugin or the gate answers it. */
import { type Caller, requireCaller } from '@fastify-modular/core'
import { createErrorServerOptions, errors, problemResponses } from '@fastify-modular/errors'
import { publicRoutes } from '@fastify-modular/public-routes'
import {
  PreconditionFailedException,
  setting,
  SettingLockedException,
  settings,
  SettingsChangedException,
  SettingScope,
  SettingValidationException,
} from '@fastify-modular/settings'
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type InjectOptions,
} from 'fastify'
import { test } from 'tap'

const definitions = {
  title: setting.text('app.title', { displayName: 'Title', scope: SettingScope.Application }),
  locked: setting.text('app.locked', { displayName: 'Locked', scope: SettingScope.Application }),
}
const callers: Readonly<Record<string, Caller>> = {
  admin: { id: 'admin', isAdmin: true },
  alice: { id: 'alice' },
}
const callerOf = ({ headers }: FastifyRequest): Caller | null => callers[String(headers['x-caller'])] ?? null

interface Parts {
  readonly hasErrors: boolean
  readonly hasGate: boolean
}
const combinations: readonly Parts[] = [
  { hasErrors: false, hasGate: false },
  { hasErrors: true, hasGate: false },
  { hasErrors: false, hasGate: true },
  { hasErrors: true, hasGate: true },
]

async function createApp({ hasErrors, hasGate }: Parts): Promise<FastifyInstance> {
  const app = Fastify({ ...(hasErrors && createErrorServerOptions()), genReqId: () => 'r1' })
  if (hasErrors) await app.register(errors)
  if (hasGate) await app.register(publicRoutes, { provider: { authenticate: callerOf } })
  await app.register(settings, {
    definitions: [definitions],
    overrides: { 'app.locked': 'by the host' },
    ...(!hasGate && { findCaller: callerOf }),
  })
  return app
}

type Failure = Omit<InjectOptions, 'url'> & {
  readonly status: number
  readonly as?: string
  /** Below `/api/settings`. */
  readonly url?: string
  readonly type?: string
}
const title = { key: 'app.title', scope: 1, value: 'x' }
const write = { method: 'PUT', as: 'admin' } as const

const failures: Readonly<Record<string, Failure>> = {
  'a read without a caller': { status: 401 },
  'a write without a caller': { ...write, status: 401, as: '', payload: title },
  'a write without the permission': { ...write, status: 403, as: 'alice', payload: title },
  'an unknown setting': { status: 404, as: 'admin', url: '/no.such?scope=1' },
  'an unknown member of a body': { ...write, status: 400, payload: { ...title, extra: 1 } },
  'an unknown parameter': { status: 400, as: 'admin', url: '?scop=1' },
  'User scope': { ...write, status: 400, payload: { ...title, scope: 2 } },
  'a scope that the setting does not have': { ...write, status: 400, payload: { ...title, scope: 0 } },
  'malformed JSON': { ...write, status: 400, type: 'application/json', payload: '{ malformed' },
  'an empty body': { ...write, status: 400, type: 'application/json', payload: '' },
  'a body that is too large': {
    ...write,
    status: 413,
    url: '/bulk',
    payload: [{ ...title, value: 'x'.repeat(513 * 1024) }],
  },
  'a body of another media type': { ...write, status: 415, type: 'application/xml', payload: '<a/>' },
  'a locked setting': { ...write, status: 409, payload: { ...title, key: 'app.locked' } },
  'a version that has changed': { ...write, status: 412, headers: { 'if-match': '"r9"' }, payload: title },
  'a value of another type': { ...write, status: 422, payload: { ...title, value: 5 } },
}

for (const [name, { status, as, type, url = '', headers, ...request }] of Object.entries(failures)) {
  test(`${name}: settings, errors and the gate answer ${status} with the same body`, async (t) => {
    const bodies = new Set<string>()
    for (const parts of combinations) {
      const app = await createApp(parts)
      t.teardown(() => app.close())
      const answer = await app.inject({
        ...request,
        url: `/api/settings${url}`,
        headers: {
          accept: 'application/json',
          traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
          ...(as && { 'x-caller': as }),
          ...(type && { 'content-type': type }),
          ...headers,
        },
      })
      t.equal(answer.statusCode, status)
      t.equal(answer.headers['content-type'], 'application/problem+json')
      t.equal(answer.headers['cache-control'], 'no-store')
      bodies.add(answer.payload)
    }
    const [body = '{}', ...others] = bodies
    t.same(others, [])
    t.same(Object.keys(JSON.parse(body)).slice(0, 8), [
      'type',
      'title',
      'status',
      'detail',
      'instance',
      'code',
      'requestId',
      'traceId',
    ])
  })
}

const html = 'text/html,application/xhtml+xml,*/*;q=0.8'

/** Requests of anonymous callers, and what both providers of the test make of them. */
const anonymous: Readonly<Record<string, InjectOptions>> = {
  'a program': {},
  'a browser that navigates': { headers: { accept: html } },
  'an Inertia page': { headers: { 'x-inertia': 'true' } },
  'an Inertia page that writes': { method: 'POST', headers: { 'x-inertia': 'true' } },
}
const providers = {
  'a challenge': { authenticate: () => null, challenge: () => 'Session realm="notes"' },
  'a login page': { authenticate: () => null, loginUrl: '/login' },
  'a login elsewhere': { authenticate: () => null, loginUrl: 'https://login.example' },
}

for (const [of, provider] of Object.entries(providers)) {
  test(`requireCaller on a public route answers as the gate does, with ${of}`, async (t) => {
    const answersOf = async (access: 'public' | 'signed-in') => {
      const app = Fastify({ genReqId: () => 'r1' })
      t.teardown(() => app.close())
      await app.register(errors)
      await app.register(publicRoutes, { provider })
      app.get('/login', { config: { access: 'public' } }, async () => 'login')
      const handler = async (request: FastifyRequest, reply: FastifyReply) => {
        reply.headers({ 'content-encoding': 'gzip', 'content-disposition': 'attachment', etag: '"1"' })
        return requireCaller(request).id
      }
      app.route({ method: ['GET', 'POST'], url: '/notes', config: { access }, handler })
      const answers = Object.entries(anonymous).map(async ([who, request]) => {
        const { statusCode, headers, body } = await app.inject({ url: '/notes?page=2', ...request })
        const { date: _, ...rest } = headers
        return { who, statusCode, headers: rest, body }
      })
      return Promise.all(answers)
    }
    t.same(await answersOf('public'), await answersOf('signed-in'))
  })

  test(`requireCaller in an onSend hook is the constant problem, with ${of}`, async (t) => {
    const app = Fastify(createErrorServerOptions())
    t.teardown(() => app.close())
    await app.register(errors)
    await app.register(publicRoutes, { provider })
    app.get('/login', { config: { access: 'public' } }, async () => 'login')
    const onSend = async (request: FastifyRequest) => void requireCaller(request)
    app.route({
      method: ['GET', 'POST'],
      url: '/notes',
      config: { access: 'public' },
      onSend,
      handler: async () => 'notes',
    })
    for (const [who, request] of Object.entries(anonymous)) {
      const answer = await app.inject({ url: '/notes', ...request })
      t.equal(answer.statusCode, 500, who)
      t.match(answer.headers['content-type'], /^(?:application\/problem\+json|text\/html)/, who)
      t.equal(answer.headers.location, undefined, who)
      t.notMatch(answer.body, 'FMOD', who)
    }
  })
}

test('without the errors plugin, requireCaller has the challenge of the provider', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(publicRoutes, { provider: providers['a challenge'] })
  app.get('/notes', { config: { access: 'public' } }, async (request) => requireCaller(request).id)
  const { statusCode, headers } = await app.inject('/notes')
  t.match(
    { statusCode, headers },
    { statusCode: 401, headers: { 'www-authenticate': 'Session realm="notes"' } },
  )
})

test('problemResponses documents the exceptions of settings by their classes', async (t) => {
  const app = await createApp({ hasErrors: true, hasGate: true })
  const classes = [
    SettingLockedException,
    SettingsChangedException,
    SettingValidationException,
    PreconditionFailedException,
  ] as const
  const responses = problemResponses(app, ...classes)
  const schemaOf = (status: 409 | 412 | 422) => responses[status].content['application/problem+json'].schema
  const codes = { code: { enum: ['CONFLICT'] }, status: { enum: [409] } }
  t.match(schemaOf(409), {
    oneOf: [
      { required: ['type', 'status', 'code', 'locked'], properties: { ...codes, locked: { type: 'array' } } },
      { required: ['type', 'status', 'code', 'conflicts', 'people'], properties: codes },
    ],
  })
  t.match(schemaOf(412), { properties: { code: { enum: ['PRECONDITION_FAILED'] } } })
  t.match(schemaOf(422), {
    properties: { code: { enum: ['SETTING_VALIDATION'] }, errors: { type: 'object' } },
  })
  const thrown = [
    new SettingLockedException(['a']),
    new SettingsChangedException([]),
    new SettingValidationException('a', ['x']),
    new PreconditionFailedException(),
  ]
  for (const [index, { status, code, title }] of classes.entries())
    t.match(thrown[index], { statusCode: status, code, title })
  await app.close()
})
