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

interface Thrown {
  readonly what: string
  readonly make: () => unknown
  /** What the caller is told; undefined where it is a failure of the server. */
  readonly errors?: object
}

const issue = { message: 'Too short', path: ['title'] }
const withIssues = (issues: unknown, more: object = {}) =>
  Object.assign(new Error('secret'), { issues, ...more })
const trap = (): never => {
  throw new Error('trap secret')
}

/** What validators of Standard Schema throw, and what only looks so. The messages are those of Zod 4, Valibot 1 and ArkType 2. */
const thrown: readonly Thrown[] = [
  {
    what: 'an error of Zod, whose issues are not enumerable',
    make: () =>
      Object.defineProperty(new Error('[{"secret":1}]'), 'issues', {
        value: [
          {
            code: 'too_small',
            path: ['a', 0, 'b'],
            message: 'Too small: expected string to have >=50 characters',
          },
          { code: 'invalid_type', path: ['n'], message: 'Invalid input: expected number, received string' },
          { code: 'unrecognized_keys', path: [], message: 'Unrecognized key: "x"' },
        ],
      }),
    errors: {
      'a.0.b': ['Too small: expected string to have >=50 characters'],
      n: ['Invalid input: expected number'],
      $: ['Unrecognized key: "x"'],
    },
  },
  {
    what: 'an error of Valibot, whose path has objects with the input',
    make: () =>
      withIssues([
        {
          path: [{ key: 'n', value: 'secret' }],
          message: 'Invalid type: Expected number but received "secret"',
        },
        { path: [{ key: 'm' }, { key: 1 }], message: 'Invalid email: Received "secret\n"' },
        { message: 'Passwords differ.' },
      ]),
    errors: { n: ['Invalid type: Expected number'], 'm.1': ['Invalid email'], $: ['Passwords differ.'] },
  },
  {
    what: 'an error of ArkType',
    make: () =>
      Object.assign(new Error('n must be "a" (was "secret")'), {
        arkErrors: [{ path: ['n'], message: 'n must be "a" (was "secret (1)")' }],
      }),
    errors: { n: ['n must be "a"'] },
  },
  {
    what: 'an error of ArkType that says first or in the middle what it was given',
    make: () =>
      Object.assign(new Error('secret'), {
        arkErrors: [
          { path: ['p'], message: 'p ("secret") must be...\n  ◦ at least length 20\n  ◦ an email address' },
          { path: ['pin'], message: 'pin (5318008) must be...\n  ◦ even\n  ◦ at most 9' },
          {
            path: ['j'],
            message: `j must be a JSON string (SyntaxError: Unexpected token 's', "secret" is not valid JSON)`,
          },
          {
            path: ['r'],
            message: 'r SyntaxError: Invalid regular expression: /(secret/: Unterminated group',
          },
          { path: ['long'], message: `long must be "a" (was "${'secret'.repeat(100)}")` },
          { path: ['long'], message: `long ("${'secret'.repeat(100)}") must be...\n  ◦ an email address` },
        ],
      }),
    errors: {
      p: ['p must be...\n  ◦ at least length 20\n  ◦ an email address'],
      pin: ['pin must be...\n  ◦ even\n  ◦ at most 9'],
      j: ['j must be a JSON string'],
      r: ['r'],
      long: ['long must be "a"', 'long must be...\n  ◦ an email address'],
    },
  },
  {
    what: 'a result of Standard Schema',
    make: () => ({ issues: [issue] }),
    errors: { title: ['Too short'] },
  },
  {
    what: 'names that lead elsewhere',
    make: () => withIssues([{ ...issue, path: ['__proto__', Symbol('s'), 'x'.repeat(5000), '\u0000'] }]),
    errors: { [`__proto__.Symbol(s).${'x'.repeat(179)}…`]: ['Too short'] },
  },
  {
    what: 'a path of a million members',
    make: () => withIssues([{ ...issue, path: Array.from({ length: 1_000_000 }, () => 'x') }]),
    errors: { [`${'x.'.repeat(99)}x`]: ['Too short'] },
  },
  {
    what: 'a million issues',
    make: () => withIssues(Array.from({ length: 1_000_000 }, () => issue)),
    errors: { title: Array.from({ length: 100 }, () => 'Too short') },
  },
  { what: 'no issues', make: () => withIssues([]) },
  { what: 'issues that are no list', make: () => withIssues({ 0: issue, length: 1 }) },
  { what: 'issues that are texts', make: () => withIssues(['secret']) },
  { what: 'an issue without a message', make: () => withIssues([issue, { path: ['secret'] }]) },
  { what: 'an issue whose path is a text', make: () => withIssues([{ ...issue, path: 'secret' }]) },
  {
    what: 'a getter that throws',
    make: () => Object.defineProperty(new Error('secret'), 'issues', { get: trap }),
  },
  { what: 'a list that is a proxy', make: () => withIssues(new Proxy([issue], { get: trap })) },
  { what: 'an issue that is a proxy', make: () => withIssues([new Proxy(issue, { get: trap })]) },
  {
    what: 'a key that cannot be a text',
    make: () => withIssues([{ ...issue, path: [{ key: { toString: trap } }] }]),
  },
  { what: 'issues within the cause', make: () => new Error('secret', { cause: withIssues([issue]) }) },
  { what: 'issues of many', make: () => new AggregateError([withIssues([issue])], 'secret') },
  { what: 'an error with a code of its own', make: () => withIssues([issue], { code: 'E_CONFIG' }) },
  { what: 'an error with a status of its own', make: () => withIssues([issue], { statusCode: 500 }) },
  { what: 'an upstream error', make: () => withIssues([issue], { status: 400 }) },
]

for (const { what, make, errors } of thrown) {
  test(`${what}: ${errors ? '400, by field, without what was sent' : 'a failure of the server'}`, async (t) => {
    const fail = async () => {
      throw make()
    }
    const { app } = await createApp(t, {
      after: (it) =>
        it
          .post('/handler', fail)
          .post('/hook', { preHandler: fail }, async () => 'ok')
          .post(
            '/serialiser',
            {
              serializerCompiler: () => () => {
                throw make()
              },
              schema: { response: { 200: {} } },
            },
            async () => ({ a: 1 }),
          ),
    })
    for (const url of ['/handler', '/hook']) {
      const answer = await app.inject({ method: 'POST', url })
      t.same(problemOf(t, answer, errors ? 400 : 500).errors, errors, url)
      t.notMatch(answer.body, 'secret')
    }
    problemOf(t, await app.inject({ method: 'POST', url: '/serialiser' }), 500)
  })
}

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
