/** What the client receives of each kind of prop, as a table of visits. */
import { test } from 'tap'
import { type Page, prop } from '@fastify-modular/inertia'
import type { Props } from '#src/props.js'
import { createApp, embeddedPage, visit } from './fixture.js'

type Headers = Readonly<Record<string, string>>
type Labels = Omit<Partial<Page>, 'component' | 'url' | 'version'>

const only = (...paths: string[]): Headers => ({
  'x-inertia-partial-component': 'Page',
  'x-inertia-partial-data': paths.join(','),
})
const except = (...paths: string[]): Headers => ({
  'x-inertia-partial-component': 'Page',
  'x-inertia-partial-except': paths.join(','),
})
const reset = (...paths: string[]): Headers => ({ ...only(...paths), 'x-inertia-reset': paths.join(',') })
const held = (...keys: string[]): Headers => ({ 'x-inertia-except-once-props': keys.join(',') })
const intent = (end: string): Headers => ({ 'x-inertia-infinite-scroll-merge-intent': end })

/** What a visit with these headers gets, without the empty errors. */
async function pageOf(props: Props, headers: Headers): Promise<Labels> {
  const app = await createApp({}, (it) => it.get('/', (_, reply) => reply.inertia('Page', props)))
  const {
    component: _,
    url: __,
    version: ___,
    ...page
  } = (await visit(app, { url: '/', headers })).json<Page>()
  const { errors: ____, ...own } = page.props
  return { ...page, props: own }
}

const portion = { data: [{ id: 3 }], total: 9 }
const position = { currentPage: 2, previousPage: 1, nextPage: 3 }

const cases: readonly (readonly [name: string, Props, Headers, Labels])[] = [
  ['a function', { a: () => 1 }, {}, { props: { a: 1 } }],
  ['an asynchronous function', { a: async () => 1 }, {}, { props: { a: 1 } }],
  ['optional: a full visit', { a: prop.optional(() => 1), b: 2 }, {}, { props: { b: 2 } }],
  ['optional: a reload that names it', { a: prop.optional(() => 1), b: 2 }, only('a'), { props: { a: 1 } }],
  ['optional: a reload of another prop', { a: prop.optional(() => 1), b: 2 }, only('b'), { props: { b: 2 } }],
  [
    'always: a reload of another prop',
    { a: prop.always(() => 1), b: 2 },
    only('b'),
    { props: { a: 1, b: 2 } },
  ],
  ['always: excluded', { a: prop.always(() => 1), b: 2 }, except('a'), { props: { a: 1, b: 2 } }],
  [
    'always: deep in an object of which another part is named',
    { n: { z: 1, x: { y: prop.always(() => 2), w: 3 }, v: { u: 4 } }, m: { y: prop.always(5) } },
    only('n.z'),
    { props: { n: { z: 1, x: { y: 2 } } } },
  ],
  [
    'always: deep in an object of which that part is excluded',
    { n: { z: 1, x: { y: prop.always(() => 2), w: 3 } } },
    except('n.x'),
    { props: { n: { z: 1, x: { y: 2 } } } },
  ],
  ['defer: a full visit', { a: prop.defer(() => 1) }, {}, { props: {}, deferredProps: { default: ['a'] } }],
  [
    'defer: groups',
    {
      a: prop.defer(() => 1),
      b: prop.defer(() => 2, { group: 'charts' }),
      c: prop.defer(() => 3, { group: 'charts' }),
    },
    {},
    { props: {}, deferredProps: { default: ['a'], charts: ['b', 'c'] } },
  ],
  [
    'defer: the request for a group',
    { a: prop.defer(() => 1), b: prop.defer(() => 2) },
    only('a'),
    { props: { a: 1 } },
  ],
  [
    'defer: nested in objects',
    { auth: { user: 'Ada', notices: prop.defer(() => [1]) } },
    {},
    { props: { auth: { user: 'Ada' } }, deferredProps: { default: ['auth.notices'] } },
  ],
  [
    'defer: nested, requested',
    { auth: { user: 'Ada', notices: prop.defer(() => [1]) } },
    only('auth.notices'),
    { props: { auth: { notices: [1] } } },
  ],
  [
    'defer: within what a function returns',
    { auth: async () => ({ user: 'Ada', notices: prop.defer(() => [1]) }) },
    {},
    { props: { auth: { user: 'Ada' } }, deferredProps: { default: ['auth.notices'] } },
  ],
  [
    'rescue: a failure leaves the others alone',
    { a: prop.defer(() => Promise.reject(new Error('x')), { rescue: true }), b: prop.defer(() => 2) },
    only('a', 'b'),
    { props: { b: 2 }, rescuedProps: ['a'] },
  ],
  ['merge', { a: prop.merge(() => [1]) }, {}, { props: { a: [1] }, mergeProps: ['a'] }],
  ['merge: not requested', { a: prop.merge(() => [1]), b: 2 }, only('b'), { props: { b: 2 } }],
  ['merge: reset', { a: prop.merge(() => [1]) }, reset('a'), { props: { a: [1] } }],
  [
    'merge: below the prop, by id',
    { a: prop.merge({ data: [1] }, { at: 'data', matchOn: 'id' }) },
    {},
    { props: { a: { data: [1] } }, mergeProps: ['a.data'], matchPropsOn: ['a.data.id'] },
  ],
  ['prepend', { a: prop.prepend([1]) }, {}, { props: { a: [1] }, prependProps: ['a'] }],
  [
    'deep merge, by ids below',
    { chat: prop.deepMerge({ messages: [] }, { matchOn: ['messages.id', 'users.id'] }) },
    {},
    {
      props: { chat: { messages: [] } },
      deepMergeProps: ['chat'],
      matchPropsOn: ['chat.messages.id', 'chat.users.id'],
    },
  ],
  [
    'defer and merge: a full visit',
    { a: prop.defer(prop.merge(() => [1])) },
    {},
    { props: {}, deferredProps: { default: ['a'] } },
  ],
  [
    'defer and merge: requested',
    { a: prop.defer(prop.merge(() => [1])) },
    only('a'),
    { props: { a: [1] }, mergeProps: ['a'] },
  ],
  [
    'merge and defer, in the other order',
    { a: prop.merge(prop.defer(() => [1])) },
    only('a'),
    { props: { a: [1] }, mergeProps: ['a'] },
  ],
  [
    'once: the first time',
    { a: prop.once(() => 1) },
    {},
    { props: { a: 1 }, onceProps: { a: { prop: 'a', expiresAt: null } } },
  ],
  [
    'once: held by the client',
    { a: prop.once(() => 1), b: 2 },
    held('a'),
    { props: { b: 2 }, onceProps: { a: { prop: 'a', expiresAt: null } } },
  ],
  [
    'once: held under its key, not its name',
    { a: prop.once(() => 1, { key: 'plans' }) },
    held('a'),
    { props: { a: 1 }, onceProps: { plans: { prop: 'a', expiresAt: null } } },
  ],
  [
    'once: held under its key',
    { list: { a: prop.once(() => 1, { key: 'plans' }) } },
    held('other', 'plans'),
    { props: { list: {} }, onceProps: { plans: { prop: 'list.a', expiresAt: null } } },
  ],
  [
    'once: held, and a reload that names it gets it all the same',
    { a: prop.once(() => 1) },
    { ...held('a'), ...only('a') },
    { props: { a: 1 }, onceProps: { a: { prop: 'a', expiresAt: null } } },
  ],
  [
    'once: held, and sent afresh',
    { a: prop.once(() => 1, { fresh: true }) },
    held('a'),
    { props: { a: 1 }, onceProps: { a: { prop: 'a', expiresAt: null } } },
  ],
  [
    'once and deferred: the first time',
    { a: prop.defer(prop.once(() => 1)) },
    {},
    { props: {}, deferredProps: { default: ['a'] }, onceProps: { a: { prop: 'a', expiresAt: null } } },
  ],
  [
    'once and deferred: held, so that nothing is fetched',
    { a: prop.defer(prop.once(() => 1)) },
    held('a'),
    { props: {}, onceProps: { a: { prop: 'a', expiresAt: null } } },
  ],
  [
    'scroll: the first portion',
    {
      list: prop.scroll(
        () => portion,
        () => position,
      ),
    },
    {},
    {
      props: { list: portion },
      mergeProps: ['list.data'],
      scrollProps: { list: { pageName: 'page', ...position, reset: false } },
    },
  ],
  [
    'scroll: a portion for the end',
    { list: prop.scroll(portion, () => position) },
    { ...only('list'), ...intent('append') },
    {
      props: { list: portion },
      mergeProps: ['list.data'],
      scrollProps: { list: { pageName: 'page', ...position, reset: false } },
    },
  ],
  [
    'scroll: a portion for the beginning, by id',
    { list: prop.scroll(portion, () => ({ ...position, pageName: 'p' }), { matchOn: 'id' }) },
    { ...only('list'), ...intent('prepend') },
    {
      props: { list: portion },
      prependProps: ['list.data'],
      matchPropsOn: ['list.data.id'],
      scrollProps: { list: { pageName: 'p', ...position, reset: false } },
    },
  ],
  [
    'scroll: reset',
    { list: prop.scroll(portion, () => position) },
    reset('list'),
    { props: { list: portion }, scrollProps: { list: { pageName: 'page', ...position, reset: true } } },
  ],
  [
    'lists are taken whole, whatever is in them',
    { a: [{ b: 1 }, [2]], c: new Date(0) },
    {},
    { props: { a: [{ b: 1 }, [2]], c: '1970-01-01T00:00:00.000Z' } },
  ],
  [
    'hostile names of props are data',
    { a: { ['__proto__']: prop.defer(() => 1), constructor: () => 2 } },
    {},
    { props: { a: { constructor: 2 } }, deferredProps: { default: ['a.__proto__'] } },
  ],
]

for (const [name, props, headers, expected] of cases) {
  test(`protocol 3: ${name}`, async (t) => {
    t.strictSame(await pageOf(props, headers), expected)
  })
}

test('a first visit, which has no headers of the client, takes nothing for held', async (t) => {
  const app = await createApp({}, (it) =>
    it.get('/', (_, reply) => reply.inertia('Page', { a: prop.once(() => 1) })),
  )
  const answer = await app.inject({ url: '/', headers: held('a') })
  t.same(embeddedPage(answer.body).props['a'], 1)
})

test('a once prop says when it expires, in milliseconds', async (t) => {
  const before = Date.now()
  const { onceProps } = await pageOf({ a: prop.once(() => 1, { expiresIn: 1000 }) }, {})
  const expiresAt = onceProps?.['a']?.expiresAt ?? 0
  t.ok(expiresAt >= before + 1000 && expiresAt <= Date.now() + 1000)
})

test('what is left out is never called', async (t) => {
  const called: string[] = []
  const call = (name: string) => () => called.push(name)
  const props = {
    optional: prop.optional(call('optional')),
    deferred: prop.defer(call('deferred')),
    held: prop.once(call('held')),
    nested: { deferred: prop.defer(call('nested')) },
  }
  await pageOf(props, held('held'))
  t.same(called, [])
})

test('functions of one page run side by side', async (t) => {
  const started: string[] = []
  let release: (() => void) | undefined
  const all = new Promise<void>((resolve) => (release = resolve))
  const slow = (name: string) => async () => {
    started.push(name)
    if (started.length === 3) release?.()
    await all
    return name
  }
  const { props } = await pageOf({ a: slow('a'), b: { c: slow('c') }, d: prop.merge(slow('d')) }, {})
  t.same(props, { a: 'a', b: { c: 'c' }, d: 'd' })
})

test('an object that contains itself fails as JSON does, and does not hold up the process', async (t) => {
  const loop: Record<string, unknown> = { a: () => 1 }
  loop['loop'] = loop
  const app = await createApp({}, (it) => it.get('/', (_, reply) => reply.inertia('Page', { loop })))
  t.equal((await visit(app, { url: '/' })).statusCode, 500)
})

test('a large plain object is sent as it is, not copied member by member', async (t) => {
  const data = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`k${index}`, { index }]))
  t.same((await pageOf({ data }, {})).props, { data })
})

test('sharedProps names the props that all pages share', async (t) => {
  const app = await createApp({ share: () => ({ user: 'Ada', team: prop.optional(() => 1) }) }, (it) =>
    it.get('/', (_, reply) => reply.inertia('Page', { own: 1 })),
  )
  const page = (await visit(app, { url: '/' })).json<Page>()
  t.same([page.sharedProps, page.props], [['user', 'team'], { user: 'Ada', own: 1, errors: {} }])
})

test('the failure of a rescued prop is logged with its path', async (t) => {
  const app = await createApp({}, (it) => {
    it.get('/', (request, reply) => {
      request.log.error = ((record: unknown, message: unknown) => lines.push([record, message])) as never
      const fail = () => Promise.reject(new Error('the report failed'))
      return reply.inertia('Page', { a: { report: prop.defer(fail, { rescue: true }) } })
    })
  })
  const lines: unknown[] = []
  await visit(app, { url: '/', headers: only('a.report') })
  t.match(lines, [[{ prop: 'a.report', err: { message: 'the report failed' } }, /deferred prop failed/]])
})
