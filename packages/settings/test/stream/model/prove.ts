/**
 * `npm run prove:stream -- [minutes] [seed]`: connections are cut, instances are killed and databases are restored at random
 * while everything writes. Half of the time on each engine. Prints what was done and fails when a promise was broken.
 */
import { randomFrom } from '../../support/random.js'
import { sqlEngines } from '../../support/sql-engines.js'
import { Model } from './model.js'

const [minutes = '5', seed = '1'] = process.argv.slice(2)
const random = randomFrom(Number(seed))

for (const [engine, open] of Object.entries(sqlEngines)) {
  const ends: (() => Promise<void>)[] = []
  try {
    const database = await open({ teardown: (end) => ends.unshift(end) })
    const model = await Model.start(database, random)
    ends.unshift(() => model.stop())
    await model.progress(3)
    const done = await causeEvents(model)
    console.table({ engine, ...(await model.verify()), ...Object.fromEntries(done) })
  } finally {
    for (const end of ends) await end()
  }
}
process.exit() // the server of the tests ends with this process

async function causeEvents(model: Model): Promise<ReadonlyMap<string, number>> {
  /** Each ends with both instances running again. */
  const events = {
    'clients are cut': async () => model.cut(random()),
    'an instance is killed': async (index: number) => {
      await model.end(index, 'SIGKILL')
      await model.progress(Math.floor(3 * random()))
      await model.boot(index)
    },
    'an instance is restarted': async (index: number) => {
      await model.end(index, 'SIGTERM')
      await model.boot(index)
    },
    'both instances are killed': async () => {
      await Promise.all([model.end(0, 'SIGKILL'), model.end(1, 'SIGKILL')])
      await Promise.all([model.boot(0), model.boot(1)])
    },
    'the database is saved': () => model.save(),
    'the database is restored': () => model.restore(),
    'connections to the server end': () => model.disconnect(),
  }
  const names = Object.keys(events) as (keyof typeof events)[]
  const done = new Map<string, number>()
  for (const end = Date.now() + (Number(minutes) * 60_000) / 2; Date.now() < end;) {
    const name = names[Math.floor(random() * names.length)] ?? 'clients are cut'
    await events[name](Math.floor(2 * random()))
    done.set(name, (done.get(name) ?? 0) + 1)
    await model.progress(Math.floor(4 * random()))
  }
  return done
}
