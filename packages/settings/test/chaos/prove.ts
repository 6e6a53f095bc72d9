/**
 * `npm run prove:chaos -- [minutes] [seed]`: random faults of four instances, their network and the server while
 * everything writes. Prints what was done and fails when a promise was broken.
 */
import { randomFrom } from '../support/random.js'
import { Cluster } from './cluster.js'

const [minutes = '5', seed = '1'] = process.argv.slice(2)
const size = 4
const random = randomFrom(Number(seed))
const cluster = await Cluster.start(size)
const done = new Map<string, number>()
const end = Date.now() + Number(minutes) * 60_000

/** Each ends with every instance running again. */
const faults = {
  'an instance is killed': async (index: number) => {
    await cluster.end(index, 'SIGKILL')
    await cluster.boot(index)
  },
  'an instance is restarted': async (index: number) => {
    await cluster.end(index, 'SIGTERM')
    await cluster.boot(index)
  },
  'two instances are killed': async (index: number) => {
    const both = [index, (index + 1) % size]
    await Promise.all(both.map((each) => cluster.end(each, 'SIGKILL')))
    await Promise.all(both.map((each) => cluster.boot(each)))
  },
  'the server is killed': () => cluster.killServer(),
  'connections are reset': async (index: number) => cluster.proxy(index).applyToOpen('reset'),
  'connections go silent': async (index: number) => cluster.proxy(index).applyToOpen('silent'),
  'notifications are lost': async (index: number) => cluster.proxy(index).apply('no-notifications'),
  'the network is slow': async (index: number) => cluster.proxy(index).apply({ delay: 1 + 20 * random() }),
  'the network heals': async (index: number) => cluster.proxy(index).apply('none'),
}

try {
  await Promise.all(Array.from({ length: size }, (_, index) => cluster.boot(index)))
  await cluster.progress(10)
  await causeFaults()
  console.table({ ...(await cluster.verify()), ...Object.fromEntries(done) })
} finally {
  await cluster.stop()
}

async function causeFaults(): Promise<void> {
  const names = Object.keys(faults) as (keyof typeof faults)[]
  while (Date.now() < end) {
    const name = names[Math.floor(random() * names.length)] ?? 'the network heals'
    await faults[name](Math.floor(random() * size))
    done.set(name, (done.get(name) ?? 0) + 1)
    await cluster.progress(Math.floor(10 * random()))
  }
}
