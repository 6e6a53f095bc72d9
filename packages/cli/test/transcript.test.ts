/** The guide shows what the commands print. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { until } from '@fastify-modular/test-support/until'
import type { FastifyInstance } from 'fastify'
import { test } from 'tap'
import { commands, readCall } from '#src/program.js'
import { printReport } from '#src/report.js'
import { createShop, Ordered } from './fixtures/shop.ts'
import { open } from './under.ts'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const config = fileURLToPath(new URL('../test/fixtures/served.mjs', import.meta.url))
const { default: build }: { default: () => Promise<FastifyInstance> } = await import(config)
const guide = new URL('../../../docs/guides/command-line.md', import.meta.url)

interface Step {
  readonly words: readonly string[]
  /** What stands before the command: `echo secret |`. */
  readonly stdin: string
  readonly shown: string
}

function stepsOf(markdown: string): Step[] {
  return [...markdown.matchAll(/^```console\n([^]*?)^```$/gm)].flatMap(([, block = '']) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((text) => {
        const [command = '', ...lines] = text.trimEnd().split('\n')
        const [, stdin = '', rest = ''] = /^(?:echo (\S+) \| )?npx fastify-modular (.*)$/.exec(command) ?? []
        const words = [...rest.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word)
        return { words, stdin, shown: lines.join('\n') }
      }),
  )
}

/** What differs from run to run. */
function normalise(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-01-01T00:00:00.000Z')
    .replaceAll(/ +$/gm, '')
    .trimEnd()
}

test('each command of the guide prints what the guide shows', async (t) => {
  const steps = stepsOf(await readFile(guide, 'utf8'))
  t.ok(steps.length > 15, `${steps.length} commands`)
  const folder = await mkdtemp(join(tmpdir(), 'cli-guide-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const database = join(folder, 'shop.db')
  let env: Readonly<Record<string, string>> = { DATABASE: database }
  for (const { words, stdin, shown } of steps) {
    const line = words.join(' ')
    // What the guide says between the commands: the application has been started, renames a setting, has a key, fails.
    if (line === 'doctor') await serve(database, async () => {})
    if (line.startsWith('settings copy')) env = { ...env, RELEASE: 'renamed' }
    if (line === 'settings reencrypt') env = { ...env, KEYS: keys }
    if (line === 'events dead-letters list' && shown.includes('no parcel')) await serve(database, orderTwice)
    const printed = await run([...words, '--config', config], { cwd: folder, env, stdin })
    const [start = '', ...rest] = normalise(shown).split('\n…')
    if (rest.length === 0) t.equal(normalise(printed), start, `${line} prints:\n${printed}`)
    else t.ok(normalise(printed).startsWith(start), `${line} prints:\n${printed}`)
  }
})

test('the guide shows every command', async (t) => {
  const lines = stepsOf(await readFile(guide, 'utf8')).map(({ words }) => words.join(' '))
  t.same(
    Object.keys(commands).filter((name) => !lines.some((line) => `${line} `.startsWith(`${name} `))),
    [],
  )
})

const keys = JSON.stringify([{ id: 'k1', key: Buffer.alloc(32, 'guide').toString('base64') }])

async function serve(database: string, work: (app: FastifyInstance) => Promise<void>): Promise<void> {
  const app = await createShop({ database, settings: { encryption: { keys: JSON.parse(keys) } } })
  await app.ready()
  await work(app)
  await app.close()
}

async function orderTwice(app: FastifyInstance): Promise<void> {
  for (const count of [1, 2]) {
    await app.events.publish(new Ordered({}))
    await until(async () => ((await app.events.deadLetters?.list()) ?? []).length === count)
  }
}

/** In this process; what standard input has needs one of its own. */
async function run(
  words: readonly string[],
  { cwd, env, stdin }: { cwd: string; env: Readonly<Record<string, string>>; stdin: string },
): Promise<string> {
  if (stdin !== '') return runProcess(words, { cwd, env, stdin })
  const { NODE_ENV: environment, ...before } = process.env
  process.env = { ...before, ...env }
  process.chdir(cwd)
  try {
    const call = await readCall(words)
    const report = 'command' in call ? await open(async () => build(), call) : call
    return printReport(report, words.includes('--json'))
  } finally {
    process.env = { ...before, ...(environment !== undefined && { NODE_ENV: environment }) }
    process.chdir(tmpdir())
  }
}

function runProcess(
  words: readonly string[],
  { cwd, env, stdin }: { cwd: string; env: Readonly<Record<string, string>>; stdin: string },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [main, ...words], {
      cwd,
      env: { ...process.env, NODE_ENV: '', ...env },
    })
    let printed = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => (printed += String(chunk)))
    child.once('error', reject)
    child.once('close', () => resolve(printed))
    child.stdin.end(stdin)
  })
}
