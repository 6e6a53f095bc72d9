// P15: what handing an event over costs in process; and the throughput and delay of the durable transports.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { defineEvent, events } from '@fastify-modular/core'
import { pgBoss } from '@fastify-modular/core/events/pg-boss'
import { sqliteOutbox } from '@fastify-modular/core/events/sqlite-outbox'
import { createDatabase, startPostgres } from '@fastify-modular/test-support/postgres'
import { Type } from '@sinclair/typebox'
import Database from 'better-sqlite3'
import Fastify from 'fastify'
import { measure, percentile, report, size } from './support/measure.mjs'
import { measureWaiting } from './support/waiting-events.mjs'

class Ticked extends defineEvent('bench.ticked', Type.Object({ number: Type.Integer() })) {}

function handlers(count, handle) {
  return Array.from({ length: count }, (_, index) => {
    const name = `Bench${index}Handler`
    return {
      [name]: class {
        static event = Ticked
        handle(event) {
          handle(event)
        }
      },
    }[name]
  })
}

async function appWith(transport, handlerClasses) {
  const app = Fastify()
  await app.register(events, { handlers: handlerClasses, ...(transport && { transport }) })
  await app.ready()
  return app
}

await handOver()
await sqlite()
await postgres()

async function handOver() {
  const batch = 2_000 // five deliveries of each: 10,000 may wait
  let calls = 0
  const handle = () => calls++
  const event = new Ticked({ number: 1 })
  const apps = {
    0: await appWith(undefined, []),
    1: await appWith(undefined, handlers(1, handle)),
    5: await appWith(undefined, handlers(5, handle)),
  }
  const batches = size(20, 1)
  const publish = (count) => async () => {
    const isDone = () => calls === batch * count
    for (let each = 0; each < batches; each++) {
      calls = 0
      for (let i = 0; i < batch; i++) void apps[count].events.publish(event)
      do await turn()
      while (!isDone())
    }
    return batch * batches
  }
  const ns = await measure({
    'bare call of one function': async () => {
      for (let i = 0; i < batch * batches; i++) handle(event)
      return batch * batches
    },
    'no handler': publish(0),
    'one handler': publish(1),
    'five handlers': publish(5),
  })
  const bare = ns['bare call of one function']
  report(
    'P15 in-process hand-over',
    Object.entries(ns).map(([what, value]) => ({
      what,
      'ns per event': Math.round(value),
      'over a bare call': Math.round(value - bare),
    })),
  )
  for (const app of Object.values(apps)) await app.close()
}

/** Publishes one by one and all at once; measures the delay of each and the rate of the whole. */
async function flow(name, transport, total) {
  const delays = []
  let done = () => {}
  const app = await appWith(
    transport,
    handlers(1, ({ number }) => {
      delays.push(performance.now() - sentAt[number])
      if (delays.length % total === 0) done()
    }),
  )
  const sentAt = []
  const all = () => new Promise((resolve) => (done = resolve))

  const finished = all()
  const start = performance.now()
  for (let number = 0; number < total; number++) {
    sentAt[number] = performance.now()
    await app.events.publish(new Ticked({ number }))
  }
  const published = performance.now() - start
  await finished
  const rate = Math.round((total / (performance.now() - start)) * 1000)
  delays.length = 0

  const sample = Math.min(200, total)
  for (let number = 0; number < sample; number++) {
    const before = delays.length
    sentAt[number] = performance.now()
    await app.events.publish(new Ticked({ number }))
    while (delays.length === before) await turn()
  }
  await app.close()
  return {
    transport: name,
    'published per s': Math.round((total / published) * 1000),
    'handled per s': rate,
    'delay p50 ms': percentile(delays, 0.5).toFixed(2),
    'delay p99 ms': percentile(delays, 0.99).toFixed(2),
  }
}

async function sqlite() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const database = new Database(join(folder, 'bench.db'))
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  report('Throughput of the SQLite outbox', [await flow('sqliteOutbox', sqliteOutbox({ database }), 2000)])
  database.close()
  rmSync(folder, { recursive: true })
}

async function postgres() {
  const server = await startPostgres()
  const database = await createDatabase(server.url)
  report('Throughput of pg-boss', [await flow('pgBoss', pgBoss({ connectionString: database.url }), 2000)])
  report('Delay between two instances', [await between((await createDatabase(server.url)).url)])
  await measureWaiting(server.url)
  await server.stop()
}

/** One instance publishes, another one, with connections of its own, handles. */
async function between(connectionString) {
  let handled = () => {}
  const handling = await appWith(
    pgBoss({ connectionString }),
    handlers(1, () => handled()),
  )
  const publishing = await appWith(pgBoss({ connectionString }), [])
  const delays = []
  for (let number = 0; number < 300; number++) {
    const arrived = new Promise((resolve) => (handled = resolve))
    await publishing.events.publish(new Ticked({ number }))
    const committed = performance.now()
    await arrived
    delays.push(performance.now() - committed)
  }
  await publishing.close()
  await handling.close()
  return {
    'from the commit to the handler': 'pgBoss',
    'p50 ms': percentile(delays, 0.5).toFixed(2),
    'p99 ms': percentile(delays, 0.99).toFixed(2),
  }
}
