import { test } from 'tap'
import fc from 'fast-check'
import type { FastifyInstance } from 'fastify'
import { type Props, readSelection, resolveProps } from '#src/props.js'
import { createApp, visit } from './fixture.js'

/** The props that a partial reload of `Page` receives. */
async function reload(props: Props, headers: Record<string, string>): Promise<Record<string, unknown>> {
  const app = await createApp({}, (it) => it.get('/', (_, reply) => reply.inertia('Page', props)))
  const partial = { 'x-inertia-partial-component': 'Page', ...headers }
  return (await visit(app, { url: '/', headers: partial })).json().props
}

const user = { name: 'Ada', address: { city: 'Turin', zip: '10100' }, tags: ['a', 'b'] }

test('only selects props, and members of props by dot paths', async (t) => {
  t.same(await reload({ user, count: 1 }, { 'x-inertia-partial-data': 'count' }), { count: 1, errors: {} })
  t.same(await reload({ user, count: 1 }, { 'x-inertia-partial-data': 'user.name, user.address.city' }), {
    user: { name: 'Ada', address: { city: 'Turin' } },
    errors: {},
  })
})

test('the whole wins over its parts, whichever is named first', async (t) => {
  t.same((await reload({ user }, { 'x-inertia-partial-data': 'user,user.name' })).user, user)
  t.same((await reload({ user }, { 'x-inertia-partial-data': 'user.name,user' })).user, user)
})

test('except removes after only has selected', async (t) => {
  const headers = {
    'x-inertia-partial-data': 'user,count',
    'x-inertia-partial-except': 'user.address.zip,count',
  }
  t.same(await reload({ user, count: 1 }, headers), {
    user: { name: 'Ada', address: { city: 'Turin' }, tags: ['a', 'b'] },
    errors: {},
  })
})

test('except alone keeps everything else', async (t) => {
  t.same(await reload({ a: 1, b: 2 }, { 'x-inertia-partial-except': 'b' }), { a: 1, errors: {} })
})

test('a list is taken whole: the client would replace it by its parts', async (t) => {
  t.same((await reload({ user }, { 'x-inertia-partial-data': 'user.tags.0' })).user, { tags: ['a', 'b'] })
})

test('a partial reload of another component gets the whole page', async (t) => {
  const headers = { 'x-inertia-partial-component': 'Other', 'x-inertia-partial-data': 'count' }
  t.same(await reload({ user, count: 1 }, headers), { user, count: 1, errors: {} })
  t.same(await reload({ user, count: 1 }, { 'x-inertia-partial-data': ' , ' }), {
    user,
    count: 1,
    errors: {},
  })
})

test('a function prop is called only when its prop is asked for', async (t) => {
  const called: string[] = []
  const props = {
    cheap: () => called.push('cheap'),
    costly: async () => called.push('costly'),
    plain: 1,
  }
  t.same(await reload(props, { 'x-inertia-partial-data': 'cheap' }), { cheap: 1, errors: {} })
  t.same(called, ['cheap'])
  t.same(await reload(props, { 'x-inertia-partial-except': 'cheap' }), { costly: 2, plain: 1, errors: {} })
})

test('errors are on every page and cannot be excluded', async (t) => {
  const headers = { 'x-inertia-partial-except': 'errors' }
  t.same((await reload({ errors: { title: 'Enter a title.' } }, headers)).errors, { title: 'Enter a title.' })
  t.same((await reload({ errors: () => ({ title: 'Enter a title.' }) }, {})).errors, {
    title: 'Enter a title.',
  })
})

test('errors go into the bag that the client names, when there are any', async (t) => {
  const headers = { 'x-inertia-error-bag': 'signUp' }
  t.same((await reload({ errors: { name: 'Taken.' } }, headers)).errors, { signUp: { name: 'Taken.' } })
  t.same((await reload({}, headers)).errors, {})
})

test('shared props come under the page’s own, from a value or from the request', async (t) => {
  const routes = (it: FastifyInstance) =>
    void it.get('/', (_, reply) => reply.inertia('Page', { own: 1, both: 'own' }))
  const fixed = await createApp({ share: { both: 'shared', app: 'Notes' } }, routes)
  t.same((await visit(fixed, { url: '/' })).json().props, { own: 1, both: 'own', app: 'Notes', errors: {} })
  const asked = await createApp(
    { share: async (request) => ({ agent: request.headers['user-agent'] }) },
    routes,
  )
  const headers = { 'user-agent': 'test' }
  t.same((await visit(asked, { url: '/', headers })).json().props, {
    agent: 'test',
    own: 1,
    both: 'own',
    errors: {},
  })
})

test('hostile paths reach nothing but the props’ own members', async (t) => {
  const paths = '__proto__.polluted,constructor.prototype,user.__proto__,user.constructor,toString'
  t.same(await reload({ user }, { 'x-inertia-partial-data': paths }), { user: {}, errors: {} })
  const deep = Array.from({ length: 3000 }, () => 'a').join('.')
  t.same(await reload({ a: 1 }, { 'x-inertia-partial-data': deep }), { a: 1, errors: {} })
  t.same(await reload({ a: { a: { b: 1 } } }, { 'x-inertia-partial-except': deep }), {
    a: { a: { b: 1 } },
    errors: {},
  })
  const bag = await reload({ errors: { a: 'b' } }, { 'x-inertia-error-bag': '__proto__' })
  t.same(Object.getOwnPropertyNames(bag.errors), ['__proto__'])
})

test('property: what a partial reload selects is part of the value, and asking for all is all', async () => {
  const segment = fc.constantFrom('a', 'b', 'c')
  const value = fc.object({ key: segment, maxDepth: 3, values: [fc.integer(), fc.string()] })
  const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'))
  await fc.assert(
    fc.asyncProperty(
      value,
      fc.array(path, { minLength: 1, maxLength: 4 }),
      fc.array(path),
      async (whole, only, except) => {
        const headers = {
          'x-inertia-partial-component': 'Page',
          'x-inertia-partial-data': only.map((it) => `p.${it}`).join(','),
          'x-inertia-partial-except': except.map((it) => `p.${it}`).join(','),
        }
        const { props } = await resolveProps({ p: whole }, readSelection(headers, 'Page'))
        return isPart(props, { p: whole })
      },
    ),
  )
})

function isPart(part: unknown, whole: unknown): boolean {
  if (typeof part !== 'object' || part === null) return Object.is(part, whole)
  if (typeof whole !== 'object' || whole === null) return false
  return Object.entries(part).every(
    ([key, member]) => Object.hasOwn(whole, key) && isPart(member, (whole as Record<string, unknown>)[key]),
  )
}

test('a promise that fails is a 500 for the visit that asks for it, and nothing for the others', async (t) => {
  const rejections: unknown[] = []
  const note = (reason: unknown) => void rejections.push(reason)
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  const share = async () => new Promise<Props>((resolve) => void setImmediate(() => resolve({})))
  const app = await createApp({ share }, (it) =>
    it.get('/', (_, reply) => reply.inertia('Page', { count: 1, report: Promise.reject(new Error('down')) })),
  )
  const partial = { 'x-inertia-partial-component': 'Page', 'x-inertia-partial-data': 'count' }
  t.equal((await visit(app, { url: '/', headers: partial })).json().props.count, 1)
  t.equal((await visit(app, { url: '/' })).statusCode, 500)
  await new Promise((resolve) => void setImmediate(resolve))
  t.same(rejections, [])
})
