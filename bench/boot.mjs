// P14: the CPU time that a module adds to the boot, beyond Fastify's own work for its routes; each boot in a new process.
// P18: what every plugin adds to a cold process as it is published, loading included, beside Fastify alone; and each import.
// BENCH_BEFORE names another checkout, built, with which to compare.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { manifestOf, packageFolders } from '../scripts/files.mjs'
import { createConsumer } from '../scripts/pack/consumer.mjs'
import { stage } from '../scripts/pack/stage.mjs'
import { messageOf } from './support/message.mjs'
import { inRounds, median, report, size } from './support/measure.mjs'

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

const folder = mkdtempSync(join(tmpdir(), 'bench-cold-'))
const packed = await installPacked(folder)
const before = process.env.BENCH_BEFORE // another checkout, built
const programs = {
  bare: [packed, 'bare', '1'],
  ...(before && {
    before: [new URL('bench/servers/boot.mjs', pathToFileURL(`${before}/`)), 'everything', '1'],
  }),
  packed: [packed, 'everything', '1'],
}
const cold = await inRounds(Object.keys(programs), (name) => run(...programs[name]), {
  rounds: size(10, 3),
  warmUps: 0,
})
const medianOf = (kind, member) => median(cold.map((each) => each[kind][member])).toFixed(0)
report(
  'P18 a small application, cold process',
  Object.keys(programs).map((kind) => ({
    what: kind,
    'CPU ms': medianOf(kind, 'cpu'),
    'wall ms': medianOf(kind, 'wall'),
    'heap MB': medianOf(kind, 'heap'),
    'RSS MB': medianOf(kind, 'rss'),
  })),
)

const entries = [
  'core',
  'core/events/sqlite-outbox',
  'errors',
  'public-routes',
  'inertia',
  'settings',
  'settings/sqlite',
  'settings-ui',
]
const names = ['fastify', ...entries.map((entry) => `@fastify-modular/${entry}`)]
const imports = await inRounds(['all'], () => run(new URL('imports.mjs', packed), ...names), {
  rounds: size(10, 3),
  warmUps: 0,
})
report(
  'P18 what each import costs, one after the other',
  names.map((name, index) => ({
    what: name,
    'CPU ms': median(imports.map(({ all }) => all[index])).toFixed(0),
  })),
)
rmSync(folder, { recursive: true })

/** An application with the packages as they are published. Returns its program that boots it. */
async function installPacked(destination) {
  const published = packageFolders().filter(
    (each) => manifestOf(each).exports !== undefined && !manifestOf(each).private,
  )
  const packages = []
  for (const each of published) {
    const content = join(destination, each)
    await stage(each, content)
    packages.push({ folder: resolve(each), content, manifest: manifestOf(content) })
  }
  const app = join(destination, 'app')
  createConsumer(app, packages).addOptionalPeers()
  for (const name of ['boot.mjs', 'imports.mjs']) copyFileSync(`bench/servers/${name}`, join(app, name))
  return pathToFileURL(join(app, 'boot.mjs'))
}

/** What a process measured that boots an application of a kind with so many modules. */
function boot(name) {
  return run(new URL('servers/boot.mjs', import.meta.url), ...name.split(' '))
}

/** The message of a process. */
async function run(program, ...args) {
  const child = fork(program, args)
  const message = await messageOf(child)
  await once(child, 'exit')
  return message
}
