/** The two processes of the guide: an event that is published before the worker's first start, and one while it is dead. */
import { writeGuideCode } from '@fastify-modular/test-support/guide-code'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { spawnApp, spawnNode } from '@fastify-modular/test-support/spawn-app'
import { until } from '@fastify-modular/test-support/until'
import pg from 'pg'
import { test } from 'tap'

/** The event, the web process and the worker; inside of this package, so that its packages are found. */
const [, web = '', worker = ''] = writeGuideCode(
  new URL('../../../../docs/guides/web-and-worker.md', import.meta.url),
  new URL('../../data/worker/', import.meta.url),
  (code) => code.replace('./invoices.ts', './web-and-worker-0.mjs'),
)

test('the guide: web first, worker later, and a worker that is killed', async (t) => {
  const { url } = await testDatabase(t)
  const pool = new pg.Pool({ connectionString: url })
  t.teardown(() => pool.end())
  const env = { DATABASE_URL: url, PORT: '0' }
  const app = await spawnApp(web, { env })
  t.teardown(() => app.stop())
  const create = async (body: unknown) => {
    const headers = { 'content-type': 'application/json' }
    return (await fetch(`${app.url}/invoices`, { method: 'POST', headers, body: JSON.stringify(body) }))
      .status
  }
  const booked = async (invoice: string) => {
    const { rowCount } = await pool.query('SELECT FROM bookings WHERE invoice = $1', [invoice])
    return rowCount === 1
  }

  t.equal(await create({ id: 'before' }), 201)
  t.equal(await create({ id: 7 }), 400, 'what Zod refuses')
  t.equal(await create({ id: 'before' }), 500, 'rolled back: nothing is published')
  t.notMatch(app.log(), /kept for nobody/)

  const first = spawnNode(worker, { env })
  await until(async () => (await pool.query("SELECT to_regclass('bookings') AS name")).rows[0]?.name !== null)
  await until(() => booked('before'))
  await first.stop('SIGKILL')

  t.equal(await create({ id: 'meanwhile' }), 201)
  const second = spawnNode(worker, { env })
  await until(() => booked('meanwhile'))
  t.same((await second.stop()).code, 0, 'SIGTERM ends it')
  const { rows } = await pool.query('SELECT invoice FROM bookings ORDER BY invoice')
  t.same(rows, [{ invoice: 'before' }, { invoice: 'meanwhile' }])
})
