import { Readable } from 'node:stream'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { type Test, test } from 'tap'
import { createApp } from './support/app.js'
import { generic, inertiaHeaders, pageOf, problemOf } from './support/expect.js'
import { hostileValues } from './support/hostile.js'

type Make = () => unknown

/** Where a value can be thrown, rejected or handed on; each serves `GET /`. */
const places: Readonly<Record<string, (app: FastifyInstance, make: Make) => unknown>> = {
  'a handler': (app, make) =>
    app.get('/', () => {
      throw make()
    }),
  'an async handler': (app, make) =>
    app.get('/', async () => {
      throw make()
    }),
  'an onRequest hook': (app, make) =>
    app
      .addHook('onRequest', async () => {
        throw make()
      })
      .get('/', async () => 'ok'),
  'a preParsing hook': (app, make) =>
    app
      .addHook('preParsing', async () => {
        throw make()
      })
      .get('/', async () => 'ok'),
  'a preValidation hook': (app, make) =>
    app
      .addHook('preValidation', async () => {
        throw make()
      })
      .get('/', async () => 'ok'),
  'a callback preHandler hook': (app, make) =>
    app.addHook('preHandler', (_request, _reply, done) => done(make() as Error)).get('/', async () => 'ok'),
  'a preSerialization hook': (app, make) =>
    app
      .addHook('preSerialization', async () => {
        throw make()
      })
      .get('/', async () => ({ ok: true })),
  'a serialiser': (app, make) =>
    app.get('/', (_, reply) =>
      reply
        .serializer(() => {
          throw make()
        })
        .send({ ok: true }),
    ),
  'an onSend hook, once': (app, make) => {
    let hasThrown = false
    return app
      .addHook('onSend', async () => {
        if (hasThrown) return
        hasThrown = true
        throw make()
      })
      .get('/', async () => 'ok')
  },
  'a route’s own error handler': (app, make) =>
    app.get(
      '/',
      {
        errorHandler() {
          throw make()
        },
      },
      () => {
        throw new Error('first')
      },
    ),
  'a not-found handler of a scope': (app, make) =>
    app.register(
      async (scope) => {
        scope.setNotFoundHandler(() => {
          throw make()
        })
        scope.get('/', (_, reply) => reply.callNotFound())
      },
      { prefix: '/' },
    ),
}

for (const [place, mount] of Object.entries(places)) {
  test(`decision 42: whatever ${place} throws, the caller gets 500 and learns nothing`, async (t) => {
    for (const [name, make] of Object.entries(hostileValues)) {
      await t.test(name, async (t) => {
        if (isNoError(place, make())) return
        const { app, failures } = await createApp(t, { after: (it) => void mount(it, make) })
        assertGeneric(t, await app.inject('/'))
        const answer = await app.inject({ url: '/', headers: inertiaHeaders })
        if (!place.includes('once')) t.equal(pageOf(t, answer, 500).props.message, generic)
        t.ok(failures().length >= 1, 'logged')
        t.ok(failures().every(({ level }) => level === 50))
      })
    }
  })
}

/** What Fastify takes for success, or for a body, before any other handler is asked. */
function isNoError(place: string, value: unknown): boolean {
  // `done('')` and `done(NaN)` are `done()`; what an error handler of the host throws is sent, unless it is an Error.
  return (place.startsWith('a callback') && !value) || (place.startsWith('a route') && !isError(value))
}

function isError(value: unknown): boolean {
  try {
    return value instanceof Error
  } catch {
    return true
  }
}

function assertGeneric(t: Test, answer: LightMyRequestResponse): void {
  t.equal(problemOf(t, answer, 500, 'Internal Server Error').detail, generic)
  t.notMatch(answer.body, 'secret')
  t.notMatch(JSON.stringify(answer.headers), 'secret')
}

test('a stream that fails before its first byte is 500', async (t) => {
  for (const make of [
    () => new Error('secret'),
    () => Object.freeze(new Error('secret')),
    () => ({ statusCode: 404 }),
  ]) {
    const { app } = await createApp(t, {
      after: (it) =>
        it.get('/', (_, reply) => {
          const stream = new Readable({ read: () => void stream.destroy(make() as Error) })
          return reply.type('text/plain').send(stream)
        }),
    })
    const answer = await app.inject('/')
    t.ok(answer.statusCode === 500 || answer.statusCode === 404)
    t.equal(answer.headers['content-type'], 'application/problem+json')
    t.notMatch(answer.body, 'secret')
  }
})

test('null and undefined thrown by a handler are 500', async (t) => {
  for (const nothing of [null, undefined]) {
    const { app } = await createApp(t, {
      after: (it) =>
        it
          .get('/', () => {
            throw nothing
          })
          .get('/async', async () => {
            throw nothing
          }),
    })
    assertGeneric(t, await app.inject('/'))
    assertGeneric(t, await app.inject('/async'))
  }
})

test('E73: a scope’s error handler that throws again ends in ours', async (t) => {
  const { app } = await createApp(t, {
    after: (it) =>
      it.register(async (scope) => {
        scope.setErrorHandler((error) => {
          throw error
        })
        scope.get('/', () => {
          throw Object.assign(new Error('shown'), { statusCode: 410, expose: true })
        })
      }),
  })
  t.equal(problemOf(t, await app.inject('/'), 410, 'Gone').detail, 'shown')
})

test('a plugin that fails at boot rejects the boot: no server listens that could answer', async (t) => {
  const booting = createApp(t, {
    after: (it) =>
      it.register(async () => {
        throw new Error('boot')
      }),
  })
  await t.rejects(booting, { message: 'boot' })
})
