/** Types: a compile error is the failure. */
import { test } from 'tap'
import { always, defer, type PageArguments, type PageName, scroll } from '@fastify-modular/inertia'

interface Pages {
  'Notes/Index': { notes: { id: number }[]; auth: { user: string; notices: number[] }; page?: number }
  Home: { greeting?: string }
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
  send('Notes/Index', { notes: async () => [{ id: 1 }], auth: () => auth, page: always(2) })
  send('Notes/Index', {
    notes: defer(() => [{ id: 1 }]),
    auth: { user: () => 'Ada', notices: defer(() => [1]) },
  })
  send('Home')
  send('Home', {}, { encryptHistory: true })
  sendUndeclared('Anything', {
    a: scroll({ data: [] }, () => ({ currentPage: 1, previousPage: null, nextPage: 2 })),
  })
  sendUndeclared('Anything')
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
  send('Notes/Index', { notes: [], auth: { user: 'Ada', notices: defer(() => ['1']) } })
  // @ts-expect-error -- no such prop
  send('Home', { greting: 'Hello' })
  t.end()
})
