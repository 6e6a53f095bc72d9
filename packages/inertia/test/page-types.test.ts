/** Types: a compile error is the failure. */
import { test } from 'tap'
import { prop } from '@fastify-modular/inertia'
import type { PageArguments, PageName } from '#src/page-types.js'

interface Pages {
  'Notes/Index': { notes: { id: number }[]; auth: { user: string; notices: number[] }; page?: number }
  Home: { greeting?: string }
  Account: { auth: Auth; maybe?: Auth; none: Auth | null; at: Date; list: Auth[] }
}

interface Auth {
  user: string
  notices?: number[]
}

/** What `reply.inertia` takes in an application that declares these pages. */
function send<C extends PageName<Pages>>(_component: C, ..._rest: PageArguments<Pages, C>): void {}
function sendUndeclared<C extends PageName<object>>(
  _component: C,
  ..._rest: PageArguments<object, C>
): void {}

const auth = { user: 'Ada', notices: [1] }

test('props are those of the component, written as values, functions and kinds at any depth', (t) => {
  send('Notes/Index', { notes: [{ id: 1 }], auth })
  send('Notes/Index', { notes: async () => [{ id: 1 }], auth: () => auth, page: prop.always(2) })
  send('Notes/Index', {
    notes: prop.defer(() => [{ id: 1 }]),
    auth: { user: () => 'Ada', notices: prop.defer(() => [1]) },
  })
  send('Home')
  send('Home', {}, { encryptHistory: true })
  sendUndeclared('Anything', {
    a: prop.scroll({ data: [] }, () => ({ currentPage: 1, previousPage: null, nextPage: 2 })),
  })
  sendUndeclared('Anything')
  t.end()
})

test('kinds stand below interfaces, optional and nullable props, and in what functions return', (t) => {
  const kinds = { user: 'Ada', notices: prop.defer(() => [1]) }
  const others = { none: null, at: new Date(0), list: [] }
  send('Account', { ...others, auth: kinds })
  send('Account', { ...others, auth: auth, maybe: kinds, none: kinds })
  send('Account', { ...others, auth: () => kinds, maybe: async () => kinds, none: () => null })
  send('Account', { ...others, auth: prop.always(kinds), at: () => new Date(0), list: prop.merge([auth]) })
  t.end()
})

test('a mistake is a compile error', (t) => {
  // @ts-expect-error -- no such component
  send('Notes/List')
  // @ts-expect-error -- props are required
  send('Notes/Index')
  // @ts-expect-error -- one is missing
  send('Notes/Index', { notes: [] })
  // @ts-expect-error -- of another type
  send('Notes/Index', { notes: [{ id: '1' }], auth })
  // @ts-expect-error -- a function that returns another type
  send('Notes/Index', { notes: () => [{ id: '1' }], auth })
  // @ts-expect-error -- a nested prop of another type
  send('Notes/Index', { notes: [], auth: { user: 'Ada', notices: prop.defer(() => ['1']) } })
  // @ts-expect-error -- a kind of another type below an interface
  send('Account', { auth: { user: prop.defer(() => 1) }, none: null, at: new Date(0), list: [] })
  // @ts-expect-error -- lists are taken whole
  send('Account', { auth, none: null, at: new Date(0), list: [{ user: prop.defer(() => 'Ada') }] })
  // @ts-expect-error -- no such prop
  send('Home', { greting: 'Hello' })
  t.end()
})
