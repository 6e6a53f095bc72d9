/** Forms that ask, while they are filled in, whether their input would be taken. */
import { ValidationException } from '@fastify-modular/core'
import { errors } from '@fastify-modular/errors'
import { inertia, type InertiaOptions } from '@fastify-modular/inertia'
import Fastify, { type FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'

const body = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string', minLength: 3 },
    email: { type: 'string', pattern: '@' },
    owner: { type: 'object', properties: { name: { type: 'string' } } },
  },
} as const

async function createApp(t: Test, options: InertiaOptions = { precognition: true }) {
  const app = Fastify({ ajv: { customOptions: { allErrors: true } } })
  t.teardown(() => app.close())
  const handled: string[] = []
  await app.register(errors, { errorPage: false })
  await app.register(inertia, options)
  await app.register(async (scope: FastifyInstance) => {
    scope.post<{ Body: { email?: string } }>(
      '/people',
      {
        schema: { body },
        preHandler: async (request) => {
          if (request.body.email === 'eve@x') throw new ValidationException('The shop is closed.')
          if (request.body.email === 'ada@x') throw new ValidationException({ email: ['is taken'] })
        },
      },
      async () => handled.push('people'),
    )
    scope.post('/broken', () => handled.push('broken'))
    scope.addHook('preHandler', async ({ url }) => {
      if (url === '/broken') throw new Error('secret')
    })
    scope.post('/lenient', { schema: { body }, attachValidation: true }, async () => handled.push('lenient'))
  })
  const ask = (payload: object, only?: string, url = '/people') =>
    app.inject({
      method: 'POST',
      url,
      payload,
      headers: {
        accept: 'application/json',
        precognition: 'true',
        ...(only !== undefined && { 'precognition-validate-only': only }),
      },
    })
  return { app, handled, ask }
}

const input = { title: 'a', email: 'x', owner: { name: [] } }

/** What is sent, which fields are asked for, and which are wrong. */
const questions: readonly (readonly [
  what: string,
  payload: object,
  only: string | undefined,
  wrong: string[],
])[] = [
  ['all fields', input, undefined, ['title', 'email', 'owner.name']],
  ['one field', input, 'title', ['title']],
  ['two fields', input, 'email, title', ['title', 'email']],
  ['what is below a field', input, 'owner', ['owner.name']],
  ['a field that is right', { ...input, title: 'abc' }, 'title', []],
  ['a field whose name is the beginning of another', input, 'own', []],
  ['input that is right', { title: 'abc' }, undefined, []],
  ['a rule of a hook of the route', { title: 'abc', email: 'ada@x' }, 'email', ['email']],
]

for (const [what, payload, only, wrong] of questions)
  test(`a form that asks for ${what} is told, and nothing is handled`, async (t) => {
    const { ask, handled } = await createApp(t)
    const answer = await ask(payload, only)
    t.match(answer.headers, { precognition: 'true', vary: /precognition/i })
    t.equal(answer.headers['precognition-success'], wrong.length === 0 ? 'true' : undefined)
    t.equal(answer.statusCode, wrong.length === 0 ? 204 : 422)
    if (wrong.length === 0) t.equal(answer.body, '')
    else t.same(Object.keys(answer.json().errors).toSorted(), wrong.toSorted())
    t.same(handled, [])
  })

test('what is not about input is answered as ever, and a route that checks by itself accepts nothing unseen', async (t) => {
  const { ask, handled } = await createApp(t)
  const broken = await ask({}, undefined, '/broken')
  t.same([broken.statusCode, broken.headers['content-type']], [500, 'application/problem+json'])
  t.equal((await ask({}, undefined, '/missing')).statusCode, 404)
  const whole = await ask({ title: 'abc', email: 'eve@x' }, 'title')
  t.match([whole.statusCode, whole.body], [400, /The shop is closed/], 'of no field')
  t.equal((await ask({}, undefined, '/lenient')).statusCode, 422)
  t.same(handled, [])
})

test('all other requests are answered literally, and all where the option is not set (S 7.1)', async (t) => {
  const { app, handled } = await createApp(t)
  for (const precognition of [undefined, 'false', '']) {
    const headers = { ...(precognition !== undefined && { precognition }) }
    const refused = await app.inject({ method: 'POST', url: '/people', payload: input, headers })
    t.same([refused.statusCode, refused.headers['content-type']], [400, 'application/problem+json'])
    t.equal(refused.headers['precognition'], undefined)
  }
  await app.inject({ method: 'POST', url: '/people', payload: { title: 'abc' } })
  await app.inject({ method: 'POST', url: '/lenient', payload: input })
  t.same(handled, ['people', 'lenient'])
  const without = await createApp(t, {})
  t.equal((await without.ask(input)).statusCode, 400)
  await without.ask({ title: 'abc' })
  t.same(without.handled, ['people'])
})
