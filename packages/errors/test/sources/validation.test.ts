import { test } from 'tap'
import type { FastifySchema } from 'fastify'
import { createApp, type Fixture, type FixtureOptions } from '../support/app.js'
import { inertiaHeaders, pageOf, type ProblemBody, problemOf } from '../support/expect.js'

const body = {
  type: 'object',
  required: ['a', 'n'],
  properties: {
    a: { type: 'string', minLength: 3 },
    n: { type: 'integer', minimum: 1 },
    nested: { type: 'object', properties: { x: { type: 'array', items: { type: 'integer' } } } },
  },
}

type T = Parameters<typeof createApp>[0]

function createValidating(t: T, options: FixtureOptions = {}): Promise<Fixture> {
  return createApp(t, {
    ...options,
    after: (it) =>
      it
        .post('/val', { schema: { body } }, async () => 'ok')
        .get(
          '/q',
          { schema: { querystring: { type: 'object', properties: { n: { type: 'integer' } } } } },
          async () => 'ok',
        )
        .get(
          '/p/:id',
          { schema: { params: { type: 'object', properties: { id: { type: 'integer' } } } } },
          async () => 'ok',
        )
        .get(
          '/h',
          { schema: { headers: { type: 'object', required: ['X-Need'] } } as FastifySchema },
          async () => 'ok',
        ),
  })
}

async function errorsOf(
  t: T,
  { app }: Fixture,
  url: string,
  payload?: object,
): Promise<ProblemBody['errors']> {
  const answer = await app.inject({ url, ...(payload && { method: 'POST', payload }) })
  const problem = problemOf(t, answer, 400, 'Validation Error')
  t.equal(problem.type, 'urn:problem:validation')
  t.equal(problem.code, 'VALIDATION')
  return problem.errors
}

test('decision 43, E44: a missing field is named', async (t) => {
  const fixture = await createValidating(t)
  t.same(await errorsOf(t, fixture, '/val', {}), { a: ["must have required property 'a'"] })
})

test('E45: a bad field has one message, and its value is not repeated', async (t) => {
  const fixture = await createValidating(t)
  const errors = await errorsOf(t, fixture, '/val', { a: 'xq', n: 1 })
  t.equal(errors?.['a']?.length, 1)
  t.notMatch(JSON.stringify(errors), 'xq')
})

test('E46: a nested field is a dotted path', async (t) => {
  const errors = await errorsOf(t, await createValidating(t), '/val', {
    a: 'abc',
    n: 1,
    nested: { x: [1, 'no'] },
  })
  t.same(Object.keys(errors ?? {}), ['nested.x.1'])
})

test('E47 to E49: fields outside the body are prefixed by their place', async (t) => {
  const fixture = await createValidating(t)
  t.same(Object.keys((await errorsOf(t, fixture, '/q?n=abc')) ?? {}), ['query.n'])
  t.same(Object.keys((await errorsOf(t, fixture, '/p/abc')) ?? {}), ['params.id'])
  t.same(Object.keys((await errorsOf(t, fixture, '/h')) ?? {}), ['headers.x-need'])
})

test('a body that is not an object fails at its root', async (t) => {
  const { app } = await createValidating(t)
  const answer = await app.inject({
    method: 'POST',
    url: '/val',
    payload: '[]',
    headers: { 'content-type': 'application/json' },
  })
  t.same(Object.keys(problemOf(t, answer, 400).errors ?? {}), ['$'])
})

test('all errors are in the answer where the host lets AJV collect them', async (t) => {
  const fixture = await createValidating(t, { server: { ajv: { customOptions: { allErrors: true } } } })
  t.same(Object.keys((await errorsOf(t, fixture, '/val', {})) ?? {}), ['a', 'n'])
})

test('the Inertia client gets page Error/400', async (t) => {
  const { app } = await createValidating(t)
  const answer = await app.inject({ method: 'POST', url: '/val', payload: {}, headers: inertiaHeaders })
  t.equal(pageOf(t, answer, 400).props.title, 'Validation Error')
})

test('names of fields come from outside: hostile ones are cut, counted and cannot reach a prototype', async (t) => {
  const closed = { type: 'object', additionalProperties: false, properties: {} }
  const { app } = await createApp(t, {
    server: { ajv: { customOptions: { allErrors: true, removeAdditional: false } } },
    after: (it) => it.post('/closed', { schema: { body: closed } }, async () => 'ok'),
  })
  const fields = Array.from({ length: 500 }, (_, i) => [`f${i}`, 1])
  const payload = Object.fromEntries([
    ['toString', 1],
    ['x'.repeat(5000), 1],
    ['a\u0000b\r\nc', 1],
    ...fields,
  ]) as object
  const problem = problemOf(t, await app.inject({ method: 'POST', url: '/closed', payload }), 400)
  const names = Object.keys(problem.errors ?? {})
  t.equal(names.length, 100)
  t.ok(names.every((name) => name.length <= 200))
  t.ok(names.includes('abc'))
  t.same(problem.errors?.['toString'], ['must NOT have additional properties'])
})

test('a validator that crashes is a defect of the server', async (t) => {
  const { app } = await createApp(t, {
    after: (it) =>
      it
        .setValidatorCompiler(() => () => {
          throw new Error('secret')
        })
        .post('/crash', { schema: { body: {} } }, async () => 'ok'),
  })
  const answer = await app.inject({ method: 'POST', url: '/crash', payload: {} })
  problemOf(t, answer, 500)
  t.notMatch(answer.body, 'secret')
})

test('a schemaErrorFormatter may choose the status, and an attached error may be thrown later', async (t) => {
  const { app } = await createApp(t, {
    after: (it) =>
      it
        .post(
          '/422',
          {
            schema: { body },
            schemaErrorFormatter: () => Object.assign(new Error('formatted'), { statusCode: 422 }),
          },
          async () => 'ok',
        )
        .post('/attached', { schema: { body }, attachValidation: true }, async (request) => {
          if (request.validationError) throw request.validationError
        }),
  })
  const post = (url: string) => app.inject({ method: 'POST', url, payload: {} })
  t.same(Object.keys(problemOf(t, await post('/422'), 422).errors ?? {}), ['a'])
  t.same(Object.keys(problemOf(t, await post('/attached'), 400).errors ?? {}), ['a'])
})
