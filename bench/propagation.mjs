// P16: how long after a commit another instance, a process of its own, answers with the new value.
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { settings } from '@fastify-modular/settings'
import Fastify from 'fastify'
import { openStore, watched } from './servers/shared-store.mjs'
import { startDurablePostgres } from './support/durable-postgres.mjs'
import { messageOf } from './support/message.mjs'
import { percentile, report, size } from './support/measure.mjs'

const pollInterval = 100 // the store's default
const server = await startDurablePostgres()
const folder = mkdtempSync(join(tmpdir(), 'bench-'))
report('P16 a change in another instance, ms after commit', [
  { store: 'PostgreSQL', ...(await delays(server.url, size(1000, 20), 10)), 'goal p99': 5 },
  {
    store: 'SQLite',
    ...(await delays(join(folder, 'shared.db'), size(300, 10), pollInterval)),
    'goal p99': pollInterval + 2,
  },
])
await server.stop()
rmSync(folder, { recursive: true })

/** @param pause the longest between two writes, which come at any moment of the other's interval */
async function delays(place, writes, pause) {
  const app = Fastify()
  await app.register(settings, { definitions: [watched], store: openStore(place), routes: false })
  await app.ready()
  const other = fork(new URL('servers/instance.mjs', import.meta.url), [place])
  await messageOf(other)

  const fromCall = []
  const fromCommit = []
  for (let value = 1; value <= writes; value++) {
    await sleep((value * 37) % pause)
    const heard = messageOf(other)
    const called = now()
    await app.settings.set(watched, value)
    const committed = now()
    const seen = await heard
    if (seen.value !== value) throw new Error(`expected ${value}, the other instance has ${seen.value}`)
    fromCall.push(seen.at - called)
    fromCommit.push(seen.at - committed)
  }
  other.disconnect()
  await app.close()
  const show = (samples, share) => percentile(samples, share).toFixed(2)
  return {
    p50: show(fromCommit, 0.5),
    p99: show(fromCommit, 0.99),
    'p50 from the call': show(fromCall, 0.5),
    'p99 from the call': show(fromCall, 0.99),
  }
}

/** Milliseconds on the clock that all processes of the machine share. */
function now() {
  return Number(process.hrtime.bigint()) / 1e6
}
