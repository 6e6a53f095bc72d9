// P17: what users' and shared writes cost with 1, 2 and 4 instances on one PostgreSQL, and 8 to 64 simulated ones.
import { fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDatabase } from '@fastify-modular/test-support/postgres'
import { Client } from 'pg'
import { startDurablePostgres } from './support/durable-postgres.mjs'
import { inRounds, median, report, size } from './support/measure.mjs'
import { ask, messageOf } from './support/message.mjs'

const milliseconds = size(2000, 300)
const lanes = 8 // writes of users under way in one instance: its pool has ten connections
const instanceCounts = [1, 2, 4]

const server = await startDurablePostgres()
const admin = await connect(server.url)
/** Each in a database of its own: as it is, and with the notification in the statement that saves. */
const subjects = { after: { notifiesInside: false }, inside: { notifiesInside: true } }
for (const subject of Object.values(subjects)) subject.url = (await createDatabase(server.url)).url
const script = new URL('servers/preferences.mjs', import.meta.url)
const processes = Array.from({ length: 4 }, () => fork(script))
try {
  await Promise.all(processes.map(messageOf))
  await full('P17 writes of users', 0)
  await full('P17 writes of users, flushes of 2 ms', 2000)
  await counted()
} finally {
  for (const child of processes) child.disconnect()
  await admin.end()
  await server.stop()
}

/** All instances write as fast as they can. */
async function full(title, commitDelay) {
  await admin.query(`alter system set commit_delay = ${commitDelay}`)
  await admin.query('alter system set commit_siblings = 0')
  await admin.query('select pg_reload_conf()')
  const alone = instanceCounts.map((writers) => [`after, ${writers}`, { subject: 'after', writers }])
  const cells = {
    ...Object.fromEntries(alone),
    'after, 1 writes, 3 listen': { subject: 'after', writers: 1, others: 3 },
    'NOTIFY inside, 1': { subject: 'inside', writers: 1 },
    'NOTIFY inside, 4': { subject: 'inside', writers: 4 },
    'after, 4 of 8, simulated': { subject: 'after', writers: 4, simulated: 4 },
    'after, 4 of 16, simulated': { subject: 'after', writers: 4, simulated: 12 },
    'after, 4 of 64, simulated': { subject: 'after', writers: 4, simulated: 60 },
  }
  const samples = await inRounds(Object.keys(cells), (name) => measureCell(cells[name]), {
    rounds: size(6, 2),
  })
  const of = (name, what) => median(samples.map((sample) => sample[name][what]))
  report(
    title,
    Object.keys(cells).map((instances) => ({
      instances,
      'writes/s': Math.round(of(instances, 'rate')),
      'transactions a write': of(instances, 'transactions').toFixed(2),
      'server ms a write': of(instances, 'cpu').toFixed(2),
      'connections that wait for a lock': of(instances, 'waiting').toFixed(1),
    })),
  )
  const ratios = [
    ['server CPU a write, 4 of 1', '≤ 1.5', 'cpu', 'after, 4', 'after, 1'],
    ['rate of 4, of NOTIFY inside', '≥ 3', 'rate', 'after, 4', 'NOTIFY inside, 4'],
    ['rate of 1 with 3 that listen, of 1 alone', '≥ 0.9', 'rate', 'after, 1 writes, 3 listen', 'after, 1'],
    ['transactions a write, 64 of 4', '≤ 1', 'transactions', 'after, 4 of 64, simulated', 'after, 4'],
  ]
  report(
    `${title}, ratios`,
    ratios.map(([what, goal, member, one, other]) => {
      const ratio = median(samples.map((sample) => sample[one][member] / sample[other][member])).toFixed(2)
      return { what, goal, ratio }
    }),
  )
}

async function measureCell({ subject, writers, others = 0, simulated = 0 }) {
  const { url } = subjects[subject]
  const { instances, close } = await openInstances(subject, writers + others)
  const listeners = await Promise.all(Array.from({ length: simulated }, () => listen(url)))
  const writing = instances.slice(0, writers)
  const run = (time) =>
    Promise.all(writing.map((each) => ask(each, { order: 'writeUsers', lanes, milliseconds: time })))
  await run(milliseconds / 5)
  await sum(instances, 'flush')
  const start = { transactions: await transactionsOf(url), cpu: server.cpu() }
  const watch = watchLocks(url)
  const done = await run(milliseconds)
  const cpu = server.cpu() - start.cpu
  const waiting = await watch.end()
  const flushes = await sum(instances, 'flush')
  const writes = done.reduce((total, each) => total + each.writes, 0)
  const transactions = (await transactionsOf(url)) - start.transactions - flushes
  await Promise.all(listeners.map((client) => client.end()))
  await close()
  return {
    rate: done.reduce((total, each) => total + each.writes / each.seconds, 0),
    transactions: transactions / writes,
    cpu: cpu / writes,
    waiting,
  }
}

/** Transactions of lone writes, with the reads that they cause in other instances. */
async function counted() {
  const rows = []
  for (const count of instanceCounts) {
    const { instances, close } = await openInstances('after', count)
    const row = { instances: count }
    for (const kind of ['user', 'shared']) {
      const writes = size(40, 4)
      await sleep(1000) // what the boot, or the writes before, have caused is over
      const start = await sum(instances, 'transactions')
      await ask(instances[0], { order: 'writeSlowly', kind, writes, pause: 100 })
      await sleep(1000)
      const transactions = (await sum(instances, 'transactions')) - start
      row[`transactions a ${kind} write`] = (transactions / writes).toFixed(2)
    }
    rows.push(row)
    await close()
  }
  report('P17 transactions of a lone write', rows)
}

async function openInstances(subject, count) {
  const { url, notifiesInside } = subjects[subject]
  const instances = processes.slice(0, count)
  // One by one: the first one makes the tables.
  for (const each of instances) await ask(each, { order: 'open', url, notifiesInside })
  return { instances, close: () => Promise.all(instances.map((each) => ask(each, { order: 'close' }))) }
}

/** What all instances answer together. */
async function sum(instances, order) {
  const answers = await Promise.all(instances.map((each) => ask(each, { order })))
  return answers.reduce((total, answer) => total + answer, 0)
}

/** An instance that is not there: what the server has of one that only listens is its connection. */
async function listen(url) {
  const client = await connect(url)
  await client.query('listen "settings"; listen "settings.owned"')
  return client
}

async function transactionsOf(url) {
  const { rows } = await admin.query(
    'select xact_commit + xact_rollback as count from pg_stat_database where datname = $1',
    [new URL(url).pathname.slice(1)],
  )
  return Number(rows[0].count)
}

/** Looks every 50 ms, over a connection to another database; `end` answers the mean. */
function watchLocks(url) {
  const stop = new AbortController()
  const found = []
  const looking = (async () => {
    while (!stop.signal.aborted) {
      const { rows } = await admin.query(
        `select count(*) from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'`,
        [new URL(url).pathname.slice(1)],
      )
      found.push(Number(rows[0].count))
      await sleep(50)
    }
  })()
  return {
    async end() {
      stop.abort()
      await looking
      return found.reduce((total, count) => total + count, 0) / found.length
    },
  }
}

async function connect(url) {
  const client = new Client({ connectionString: url })
  await client.connect()
  return client
}
