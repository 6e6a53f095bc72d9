// P14: the CPU time that a module adds to the boot, beyond Fastify's own work for its routes; each boot in a new process.
// P18: what every plugin adds to a cold process, loading included, beside Fastify alone.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { messageOf } from './support/message.mjs'
import { inRounds, median, report } from './support/measure.mjs'

const subjects = ['bare 0', 'modules 0', 'bare 100', 'modules 100']
const samples = await inRounds(subjects, async (name) => (await boot(name)).boot, { warmUps: 0 })
const of = (read) => median(samples.map(read))
const beyond = (sample, modules) => sample[`modules ${modules}`] - sample[`bare ${modules}`]
const each = (sample) => (beyond(sample, 100) - beyond(sample, 0)) / 100
const row = (what, value, goal = '') => ({ what, value, goal })
report('P14 boot of 100 modules', [
  row('Fastify alone, CPU ms', of((sample) => sample['bare 100']).toFixed(0)),
  row('with our plugins, CPU ms', of((sample) => sample['modules 100']).toFixed(0)),
  row('of that the plugins without any module, CPU ms', of((sample) => beyond(sample, 0)).toFixed(0)),
  row('beyond Fastify, CPU ms per module', of((sample) => beyond(sample, 100) / 100).toFixed(2), 0.5),
  row('one module more, CPU ms', of(each).toFixed(2)),
])

const cold = await inRounds(['bare', 'everything'], (kind) => boot(`${kind} 1`), { warmUps: 0 })
const medianOf = (kind, member) => median(cold.map((each) => each[kind][member])).toFixed(0)
report(
  'P18 a small application, cold process',
  Object.keys(cold[0]).map((kind) => ({
    what: kind,
    'CPU ms': medianOf(kind, 'cpu'),
    'wall ms': medianOf(kind, 'wall'),
    'heap MB': medianOf(kind, 'heap'),
    'RSS MB': medianOf(kind, 'rss'),
  })),
)

/** What a process measured that boots an application of a kind with so many modules. */
async function boot(name) {
  const child = fork(new URL('servers/boot.mjs', import.meta.url), name.split(' '))
  const message = await messageOf(child)
  await once(child, 'exit')
  return message
}
