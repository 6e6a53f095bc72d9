import { type TypeBoxTypeProvider, TypeBoxValidatorCompiler } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { test, type Test } from 'tap'
import { createApp } from '../support/app.js'
import { type ProblemBody, problemOf } from '../support/expect.js'

const Body = Type.Object(
  {
    a: Type.String({ minLength: 3 }),
    nested: Type.Optional(Type.Object({ x: Type.Array(Type.Integer()) })),
    'na/me': Type.Optional(Type.Boolean()),
    kind: Type.Optional(Type.Union([Type.Literal('one'), Type.Literal('two')])),
  },
  { additionalProperties: false },
)

/** An application whose validator is TypeBox's own. */
async function createTyped(t: Test) {
  const { app } = await createApp(t, {
    after: (it) =>
      it
        .withTypeProvider<TypeBoxTypeProvider>()
        .setValidatorCompiler(TypeBoxValidatorCompiler)
        .post('/body', { schema: { body: Body } }, async ({ body }) => body.a)
        .get('/query', { schema: { querystring: Type.Object({ n: Type.Integer() }) } }, async () => 'ok')
        .get('/params/:id', { schema: { params: Type.Object({ id: Type.Integer() }) } }, async () => 'ok')
        .get('/headers', { schema: { headers: Type.Object({ 'x-need': Type.String() }) } }, async () => 'ok'),
  })
  return app
}

test('decision 43: failures of TypeBox are 400 with all errors by field', async (t) => {
  const app = await createTyped(t)
  const headers = { 'content-type': 'application/json' }
  const fields = async (payload: unknown): Promise<ProblemBody['errors']> => {
    const answer = await app.inject({
      method: 'POST',
      url: '/body',
      payload: JSON.stringify(payload),
      headers,
    })
    const problem = problemOf(t, answer, 400, 'Validation Error')
    t.equal(problem.code, 'VALIDATION')
    t.notMatch(answer.body, /topsecret/)
    return problem.errors
  }
  t.same(Object.keys((await fields({})) ?? {}), ['a'])
  t.same(await fields({ a: 'ab' }), { a: ['Expected string length greater or equal to 3'] })
  t.same(Object.keys((await fields({ a: 5, nested: { x: [1, 'topsecret'] } })) ?? {}), ['a', 'nested.x.1'])
  t.same(await fields({ a: 'abc', 'na/me': 'topsecret' }), { 'na/me': ['Expected boolean'] })
  t.same(await fields({ a: 'abc', more: 1 }), { more: ['Unexpected property'] })
  t.same(Object.keys((await fields({ a: 'abc', kind: 'topsecret' })) ?? {}), ['kind'])
  t.same(Object.keys((await fields('topsecret')) ?? {}), ['$'])
})

test('decision 43: fields outside the body are prefixed, as with AJV', async (t) => {
  const app = await createTyped(t)
  for (const [url, field] of Object.entries({
    '/query?n=topsecret': 'query.n',
    '/params/topsecret': 'params.id',
    '/headers': 'headers.x-need',
  })) {
    const answer = await app.inject(url)
    const { errors, instance } = problemOf(t, answer, 400, 'Validation Error')
    t.same(Object.keys(errors ?? {}), [field])
    t.ok(errors?.[field]?.every((message) => !message.includes('topsecret')))
    t.equal(instance, url.split('?')[0])
  }
})
