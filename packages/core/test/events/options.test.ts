/** What the transports and the plugins of core refuse before anything opens. */
import { events, inProcess, modules } from '@fastify-modular/core'
import { pgBoss } from '@fastify-modular/core/events/pg-boss'
import { sqliteOutbox } from '@fastify-modular/core/events/sqlite-outbox'
import Database from 'better-sqlite3'
import Fastify from 'fastify'
import { test } from 'tap'

const connectionString = 'postgres://127.0.0.1/none'
const database = new Database(':memory:')

/** Each transport with options as JavaScript may pass them. */
const transports: Readonly<Record<string, (options: object) => unknown>> = {
  inProcess: (options) => inProcess(options),
  sqliteOutbox: (options) => sqliteOutbox({ database, ...options }),
  pgBoss: (options) => pgBoss({ connectionString, ...options }),
}

for (const [name, create] of Object.entries(transports)) {
  test(`${name} refuses a misspelt option and names the nearest one (FMOD_CORE_INVALID_OPTION)`, async (t) => {
    t.throws(() => create({ closeTimout: 10 }), {
      code: 'FMOD_CORE_INVALID_OPTION',
      message: `The options of ${name}() cannot be used: unknown option options.closeTimout (did you mean options.closeTimeout?)`,
    })
  })

  test(`${name} refuses time-outs that no timer can take, all at once`, async (t) => {
    for (const closeTimeout of [-1, Number.NaN, Infinity, 2 ** 31, '5'])
      t.throws(() => create({ closeTimeout, typo: 1 }), {
        code: 'FMOD_CORE_INVALID_OPTION',
        message: /closeTimeout must be .*; unknown option options\.typo/,
      })
  })
}

test('a durable transport refuses a database that is not one of its driver', async (t) => {
  const refused = { code: 'FMOD_CORE_INVALID_OPTION' }
  const missing = JSON.parse('{}') as { database: typeof database }
  t.throws(() => sqliteOutbox(missing), { ...refused, message: /database must be an open database/ })
  // @ts-expect-error a JavaScript application
  t.throws(() => sqliteOutbox({ database: 'events.db' }), refused)
  // @ts-expect-error a JavaScript application
  t.throws(() => pgBoss({ pool: {} }), refused)
  t.throws(() => pgBoss({ connectionString, timeouts: { conect: 5 } as object }), {
    ...refused,
    message: /options\.timeouts\.conect \(did you mean options\.timeouts\.connect\?\)/,
  })
})

test('the plugins of core refuse misspelt options', async (t) => {
  for (const [plugin, options] of [
    [events, { transprt: inProcess() }],
    [events, { transport: 'inProcess' }],
    ...[[], null, { a: 'x' }, { a: [''] }, { a: [1] }, { a: ['m.H'], b: ['m.H'] }, { a: ['m.H', 'm.H'] }].map(
      (expects) => [events, { expects }] as const,
    ),
    [events, { tracing: { current: () => undefined } }],
    [modules, { modules: [], ignoreContribution: ['x'] }],
    [modules, {}],
  ] as const) {
    const app = Fastify()
    t.teardown(() => app.close())
    await t.rejects(Promise.resolve(app.register(plugin as typeof events, options as object)), {
      code: 'FMOD_CORE_INVALID_OPTION',
    })
  }
})
