import { test } from 'tap'
import { readPage, visit } from '@fastify-modular/inertia/testing'
import { createApp } from './fixture.js'

test('the page of a visit and of a first visit is read alike', async (t) => {
  const app = await createApp({ version: 'v7' }, (it) =>
    it.get('/', (_, reply) => reply.inertia('Home', { html: '</script><b>&' })),
  )
  for (const answer of [await visit(app, { url: '/?a=1' }), await app.inject('/?a=1')])
    t.same(readPage(answer), {
      component: 'Home',
      props: { html: '</script><b>&', errors: {} },
      url: '/?a=1',
      version: 'v7',
    })
})

test('an answer that is not a page fails with what it says', async (t) => {
  const app = await createApp({}, (it) => it.get('/', async () => ({ not: 'a page' })))
  const answer = await visit(app, { url: '/' })
  t.throws(() => readPage(answer), /200 {"not":"a page"}/)
})
