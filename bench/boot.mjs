// P14: the CPU time that a module adds to the boot, beyond Fastify's own work for its routes; each boot in a new process.
// P18: what every plugin adds to a cold process, loading included, beside Fastify alone.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { messageOf } from './support/message.mjs'
import { median, report, rotate, size } from './support/measure.mjs'

const subjects = [
  ['bare', 0],
  ['ours', 0],
  ['bare', 100],
  ['ours', 100],
]

const samples = []
for (let round = 0; round < size(9, 3); round++) {
  const sample = {}
  for (const [kind, modules] of rotate(subjects, round))
    sample[`${kind} ${modules}`] = await boot('boot', kind, String(modules))
  samples.push({
    bare: sample['bare 100'],
    ours: sample['ours 100'],
    empty: sample['ours 0'] - sample['bare 0'],
    beyond: sample['ours 100'] - sample['bare 100'],
  })
}
const of = (read) => median(samples.map(read))
report('P14 boot of 100 modules', [
  { what: 'Fastify alone, CPU ms', value: of(({ bare }) => bare).toFixed(0), goal: '' },
  { what: 'with our plugins, CPU ms', value: of(({ ours }) => ours).toFixed(0), goal: '' },
  {
    what: 'of that the plugins without any module, CPU ms',
    value: of(({ empty }) => empty).toFixed(0),
    goal: '',
  },
  {
    what: 'beyond Fastify, CPU ms per module',
    value: of(({ beyond }) => beyond / 100).toFixed(2),
    goal: 0.5,
  },
  {
    what: 'one module more, CPU ms',
    value: of(({ beyond, empty }) => (beyond - empty) / 100).toFixed(2),
    goal: '',
  },
])

const cold = { bare: [], 'every plugin': [] }
for (let round = 0; round < size(9, 3); round++) {
  for (const kind of rotate(Object.keys(cold), round)) cold[kind].push(await boot('cold', kind))
}
const row = (kind) => {
  const of = (read) => median(cold[kind].map(read)).toFixed(0)
  return {
    what: kind,
    'CPU ms': of(({ cpu }) => cpu),
    'wall ms': of(({ wall }) => wall),
    'heap MB': of(({ heap }) => heap),
    'RSS MB': of(({ rss }) => rss),
  }
}
report('P18 a small application, cold process', Object.keys(cold).map(row))

/** What the script of a server sends when it is ready, in a process of its own. */
async function boot(server, ...args) {
  const child = fork(new URL(`servers/${server}.mjs`, import.meta.url), args)
  const message = await messageOf(child)
  await once(child, 'exit')
  return message
}
