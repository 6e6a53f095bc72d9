// An instance of an application whose users write preferences, in a process of its own, on order: each message is
// answered when it is done.
import { setTimeout as sleep } from 'node:timers/promises'
import { setting, settings, SettingScope } from '@fastify-modular/settings'
import { postgres } from '@fastify-modular/settings/postgres'
import Fastify from 'fastify'
import { Pool } from 'pg'

const users = 100_000
const theme = setting.text('bench.theme', { displayName: 'Theme', scope: SettingScope.User })
const title = setting.text('bench.title', { displayName: 'Title', scope: SettingScope.Application })

let pool
let app
let contract
let count = 0
let transactions = 0
/** Writes that carried their notification; undefined where none is to. */
let notices

const orders = {
  async open({ url, notifiesInside }) {
    pool = new Pool({ connectionString: url, max: 10, pipeline: true })
    // The driver forwards what it is told by another server process; losing it must not end this one.
    pool.on('error', () => {})
    pool.on('connect', countTransactions)
    if (notifiesInside) {
      notices = 0
      pool.on('connect', notifyInside)
    }
    const store = postgres({ pool }, notifiesInside ? { announceWindow: 10_000 } : {})
    app = Fastify()
    await app.register(settings, { definitions: [theme, title], store, routes: false })
    await app.ready()
    contract = app.settings.contract
  },
  /** Writes values of users in so many lanes, for so many milliseconds. */
  async writeUsers({ lanes, milliseconds }) {
    const start = performance.now()
    let writes = 0
    const lane = async () => {
      for (; performance.now() - start < milliseconds; writes++)
        await writeUser(`user-${Math.floor(Math.random() * users)}`)
    }
    await Promise.all(Array.from({ length: lanes }, lane))
    if (notices === 0) throw new Error('No write carried its notification.')
    return { writes, seconds: (performance.now() - start) / 1000 }
  },
  /** Writes one value after the other, with a pause between them. */
  async writeSlowly({ kind, writes, pause }) {
    for (let number = 0; number < writes; number++) {
      if (kind === 'user') await writeUser('user-0')
      else await contract.setSetting(title.key, `${process.pid} ${count++}`, title.scope)
      await sleep(pause)
    }
  },
  /** Has the server count what the connections of the pool did so far. Answers how many there are: each counts one more. */
  async flush() {
    const connections = pool.totalCount
    await Promise.all(
      Array.from({ length: connections }, () => pool.query('select pg_stat_force_next_flush()')),
    )
    return connections
  },
  transactions: () => transactions,
  async close() {
    await app.close()
    await pool.end()
  },
}

process.on('message', (message) => void obey(message))
process.on('disconnect', () => process.exit())
process.send('ready')

async function obey({ order, ...options }) {
  const { [order]: run } = orders
  const done = (await run(options)) ?? 'done'
  if (process.connected) process.send(done)
}

function writeUser(userId) {
  return contract.setSetting(theme.key, `${process.pid} ${count++}`, theme.scope, userId)
}

/** As its statements begin and end them: the server also counts each connection that a notification wakes, later. */
function countTransactions(client) {
  const { query } = client
  let isOpen = false
  client.query = (config, ...others) => {
    const text = config.text ?? config
    if (text.startsWith('begin')) isOpen = true
    else if (text.startsWith('commit') || text.startsWith('rollback')) isOpen = false
    if (!isOpen) transactions++
    return query.call(client, config, ...others)
  }
}

/** The same code with the notification in the write's own transaction: in the statement that saves, so without another round trip. */
function notifyInside(client) {
  const { query } = client
  client.query = (config, ...others) => {
    if (!config.name?.endsWith('.saveOwned')) return query.call(client, config, ...others)
    notices++
    const notified = ` pg_notify('settings.users', 'inside ' || $1::text)`
    return query.call(client, { ...config, text: config.text + notified }, ...others)
  }
}
