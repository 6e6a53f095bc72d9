// P14: what a module adds to the boot, beyond Fastify's own work for its routes; each boot in a new process.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { messageOf } from './support/message.mjs'
import { median, report, rotate, size } from './support/measure.mjs'

const script = new URL('servers/boot.mjs', import.meta.url)
const none = await beyondFastify(0)
const many = await beyondFastify(100)
report('P14 boot of 100 modules', [
  { what: 'Fastify alone, ms', value: many.bare.toFixed(0), goal: '' },
  { what: 'with our plugins, ms', value: many.ours.toFixed(0), goal: '' },
  { what: 'of that the plugins without any module, ms', value: none.beyond.toFixed(0), goal: '' },
  { what: 'beyond Fastify, ms per module', value: (many.beyond / 100).toFixed(2), goal: 0.5 },
  { what: 'one module more, ms', value: ((many.beyond - none.beyond) / 100).toFixed(2), goal: '' },
])

async function beyondFastify(modules) {
  const samples = []
  for (let round = 0; round < size(15, 3); round++) {
    const sample = {}
    for (const kind of rotate(['bare', 'ours'], round)) sample[kind] = await boot(kind, modules)
    samples.push(sample)
  }
  return {
    bare: median(samples.map(({ bare }) => bare)),
    ours: median(samples.map(({ ours }) => ours)),
    beyond: median(samples.map(({ bare, ours }) => ours - bare)),
  }
}

/** Milliseconds from the start until the application is ready, without the loading of packages. */
async function boot(kind, modules) {
  const child = fork(script, [kind, String(modules)])
  const time = await messageOf(child)
  await once(child, 'exit')
  return time
}
