import createError from '@fastify/error'
import { test } from 'tap'
import Fastify from 'fastify'
import { inertia, type Prop, prop } from '@fastify-modular/inertia'
import type { Props } from '#src/props.js'
import { createApp, version, visit } from './fixture.js'

test('a prop that fails becomes the error of the request, in every way a handler can be written', async (t) => {
  const app = await createApp({}, (it) => {
    const fail = () => {
      throw new TypeError('no database')
    }
    it.get('/sync', (_, reply) => {
      void reply.inertia('Page', { fail })
    })
    it.get('/returned', (_, reply) => reply.inertia('Page', { fail }))
    it.get('/async', async (_, reply) => reply.inertia('Page', { fail: async () => fail() }))
    it.get('/bigint', (_, reply) => reply.inertia('Page', { n: 1n }))
  })
  for (const url of ['/sync', '/returned', '/async', '/bigint']) {
    const answer = await visit(app, { url })
    t.equal(answer.statusCode, 500, url)
    t.equal(answer.headers['x-inertia'], undefined, url)
  }
})

const kinds: Readonly<Record<string, (value: unknown) => Prop>> = {
  ...prop,
  defer: (value) => prop.defer(value),
  scroll: (value) => prop.scroll(value, () => ({ currentPage: 1, previousPage: null, nextPage: null })),
}
const inside = { inside: 1 }

/** Where a kind may be put by mistake, so that nothing resolves it. */
const places: Readonly<Record<string, (kind: Prop) => { props?: object; share?: object }>> = {
  'a list': (kind) => ({ props: { a: [kind] } }),
  'a list in an object': (kind) => ({ props: { a: { b: [{ c: kind }] } } }),
  'a promise': (kind) => ({ props: { a: Promise.resolve(kind) } }),
  'a function': (kind) => ({ props: { a: () => kind } }),
  'an asynchronous function': (kind) => ({ props: { a: async () => kind } }),
  'the value of a kind': (kind) => ({ props: { a: prop.always(() => kind) } }),
  'an instance of a class': (kind) => ({
    props: {
      a: new (class {
        member = kind
      })(),
    },
  }),
  'all props': (kind) => ({ props: kind }),
  'all shared props': (kind) => ({ share: kind }),
  'what a function for errors returns': (kind) => ({ props: { errors: () => kind } }),
}

for (const [name, of] of Object.entries(kinds)) {
  test(`the inside of a kind is never sent: ${name}`, async (t) => {
    for (const [place, put] of Object.entries(places)) {
      const { props = {}, share = {} } = put(of(() => inside))
      const app = await createApp({ share: () => share as Props }, (it) =>
        it.get('/', (_, reply) => reply.inertia('Page', props as Props)),
      )
      const { statusCode, body } = await visit(app, { url: '/' })
      t.match([statusCode, body], [500, 'FMOD_INERTIA_MISPLACED_KIND'], place)
      t.notMatch(body, /traits|inside/)
    }
  })

  test(`errors may be of a kind, which changes nothing: they are on every page: ${name}`, async (t) => {
    for (const value of [inside, () => inside, async () => inside]) {
      const app = await createApp({ share: () => ({ errors: of(value) }) }, (it) => {
        it.get('/', (_, reply) => reply.inertia('Page'))
        it.get('/own', (_, reply) => reply.inertia('Page', { errors: of(value) }))
      })
      for (const url of ['/', '/own']) t.same((await visit(app, { url })).json().props, { errors: inside })
    }
  })
}

test('the status of a thrown error counts', async (t) => {
  const app = await createApp({}, (it) =>
    it.get('/', (_, reply) =>
      reply.inertia('Page', {
        note: () => Promise.reject(Object.assign(new Error('gone'), { statusCode: 404 })),
      }),
    ),
  )
  t.equal((await app.inject('/')).statusCode, 404)
})

test('errors of @fastify/error, which are not native errors, keep their status and code', async (t) => {
  const Gone = createError('APP_GONE', 'Gone', 410)
  const app = await createApp({}, (it) =>
    it.get('/', (_, reply) => reply.inertia('Page', { note: () => Promise.reject(new Gone()) })),
  )
  const answer = await app.inject('/')
  t.same([answer.statusCode, answer.json().code], [410, 'APP_GONE'])
})

test('a thrown value that is not an error never becomes the body', async (t) => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  for (const thrown of ['secret text', { secret: 1 }, undefined, proxy]) {
    const share = () => Promise.reject(thrown) // oxlint-disable-line prefer-promise-reject-errors
    const app = await createApp({ share }, (it) => it.get('/', (_, reply) => reply.inertia('Page')))
    const answer = await app.inject('/')
    t.equal(answer.statusCode, 500)
    t.notMatch(answer.body, 'secret')
  }
})

test('one failing prop does not leave the others as unhandled rejections', async (t) => {
  const app = await createApp({}, (it) =>
    it.get('/', (_, reply) =>
      reply.inertia('Page', {
        a: () => Promise.reject(new Error('a')),
        b: () => Promise.reject(new Error('b')),
      }),
    ),
  )
  t.equal((await app.inject('/')).json().message, 'a')
})

test('a promise that fails where nobody reads it does not end the process, at any depth', async (t) => {
  const failures: unknown[] = []
  const remember = (failure: unknown) => void failures.push(failure)
  process.on('unhandledRejection', remember)
  t.teardown(() => process.off('unhandledRejection', remember))
  const failing = () => Promise.reject(new Error('unread'))
  const share = () => ({ user: { plan: failing() } })
  const app = await createApp({ share }, (it) =>
    it.get('/', (_, reply) =>
      reply.inertia('Page', {
        read: 1,
        top: failing(),
        nested: { deep: { er: failing() } },
        kind: prop.defer(failing()),
        both: { kind: prop.optional(prop.defer(failing())) },
        inKind: prop.optional({ nested: failing() }),
      }),
    ),
  )
  const headers = { 'x-inertia-partial-component': 'Page', 'x-inertia-partial-data': 'read' }
  t.same((await visit(app, { url: '/', headers })).json().props, { read: 1, errors: {} })
  await new Promise((resolve) => setImmediate(resolve))
  t.same(failures, [])
})

test('registering twice is refused', async (t) => {
  const app = Fastify()
  await app.register(inertia)
  await t.rejects(async () => app.register(inertia), { code: 'FMOD_CORE_REGISTERED_TWICE' })
})

test('a version that cannot come back in a header is refused at boot', async (t) => {
  for (const bad of ['', ' v1', 'v1 ', 'é', 'a\nb']) {
    await t.rejects(createApp({ version: bad }), { code: 'FMOD_CORE_INVALID_OPTION' }, JSON.stringify(bad))
  }
  t.equal((await createApp()).inertia.version(), version)
})

test('the plugin is seen by the scopes below and beside', async (t) => {
  const app = await createApp()
  await app.register(async (child) => {
    child.get('/child', (_, reply) => reply.inertia('Child'))
  })
  t.equal((await visit(app, { url: '/child' })).json().component, 'Child')
})
