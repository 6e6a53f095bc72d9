/** The header by which the tabs of one browser find each other. */
import { memoryStore, settings } from '@fastify-modular/settings'
import Fastify, { type FastifyInstance } from 'fastify'
import { type Test, test } from 'tap'
import { definitions } from '../support/app.ts'

const store = memoryStore()

/** Its callers are what the headers say. */
async function instance(t: Test): Promise<FastifyInstance> {
  const app = Fastify()
  t.teardown(() => app.close())
  app.decorateRequest('session')
  app.addHook('onRequest', async (request) => {
    const { session } = request.headers
    if (session !== undefined) Reflect.set(request, 'session', { sessionId: session })
  })
  const caller = ({ headers: { caller: id } }: { headers: Record<string, unknown> }) => ({ id: String(id) })
  await app.register(settings, { definitions: [definitions], store, findCaller: caller })
  return app
}

async function tagOf(app: FastifyInstance, headers: Readonly<Record<string, string>>): Promise<unknown> {
  return (await app.inject({ url: '/api/settings', headers })).headers['settings-tag']
}

test('a caller and session have one tag on all instances, and no other ones have it', async (t) => {
  const [here, there] = [await instance(t), await instance(t)]
  const names = [
    { caller: 'alice' },
    { caller: 'alice', session: '1' },
    { caller: 'alice', session: '2' },
    { caller: 'bob', session: '1' },
    { caller: 'alice","1' },
    // More than are kept.
    ...Array.from({ length: 1100 }, (_, index) => ({ caller: `caller ${index}` })),
  ]
  const tags = await Promise.all(names.map((headers) => tagOf(here, headers)))
  t.equal(new Set(tags).size, names.length)
  t.match(tags[0], /^[\w-]{22}$/)
  for (const index of [0, 1, 2, 3, 4, 5])
    for (const app of [here, there])
      for (let again = 0; again < 2; again++) t.equal(await tagOf(app, names[index] ?? {}), tags[index])
})

test('an answer of a problem has the tag, and one to a stranger has none', async (t) => {
  const app = await instance(t)
  const { statusCode, headers } = await app.inject({
    url: '/api/settings/no.such',
    headers: { caller: 'alice' },
  })
  t.match({ statusCode, tag: headers['settings-tag'] }, { statusCode: 400, tag: /^[\w-]{22}$/ })
  t.notOk((await app.inject('/api/settings/public')).headers['settings-tag'])
})
