// P14: the CPU time that a module adds to the boot, beyond Fastify's own work for its routes; each boot in a new process.
// P18: what every plugin adds to a cold process, loading included, beside Fastify alone.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { messageOf } from './support/message.mjs'
import { median, report, rotate, size } from './support/measure.mjs'

const subjects = [
  ['bare', 0],
  ['modules', 0],
  ['bare', 100],
  ['modules', 100],
]

const samples = []
for (let round = 0; round < size(9, 3); round++) {
  const sample = {}
  for (const [kind, modules] of rotate(subjects, round))
    sample[`${kind} ${modules}`] = (await boot(kind, modules)).boot
  samples.push({
    bare: sample['bare 100'],
    ours: sample['modules 100'],
    empty: sample['modules 0'] - sample['bare 0'],
    beyond: sample['modules 100'] - sample['bare 100'],
  })
}
const of = (read) => median(samples.map(read))
const row = (what, value, goal = '') => ({ what, value, goal })
report('P14 boot of 100 modules', [
  row('Fastify alone, CPU ms', of(({ bare }) => bare).toFixed(0)),
  row('with our plugins, CPU ms', of(({ ours }) => ours).toFixed(0)),
  row('of that the plugins without any module, CPU ms', of(({ empty }) => empty).toFixed(0)),
  row('beyond Fastify, CPU ms per module', of(({ beyond }) => beyond / 100).toFixed(2), 0.5),
  row('one module more, CPU ms', of(({ beyond, empty }) => (beyond - empty) / 100).toFixed(2)),
])

const cold = { bare: [], everything: [] }
for (let round = 0; round < size(9, 3); round++) {
  for (const kind of rotate(Object.keys(cold), round)) cold[kind].push(await boot(kind, 1))
}
const medianOf = (kind, member) => median(cold[kind].map((each) => each[member])).toFixed(0)
report(
  'P18 a small application, cold process',
  Object.keys(cold).map((kind) => ({
    what: kind,
    'CPU ms': medianOf(kind, 'cpu'),
    'wall ms': medianOf(kind, 'wall'),
    'heap MB': medianOf(kind, 'heap'),
    'RSS MB': medianOf(kind, 'rss'),
  })),
)

/** What a process measured that boots an application with so many modules. */
async function boot(kind, modules) {
  const child = fork(new URL('servers/boot.mjs', import.meta.url), [kind, String(modules)])
  const message = await messageOf(child)
  await once(child, 'exit')
  return message
}
