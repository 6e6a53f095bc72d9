/** The guide shows what the commands print. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'
import { commands } from '#src/commands/table.js'
import { createShop } from './fixtures/shop.ts'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const config = fileURLToPath(new URL('../test/fixtures/served.mjs', import.meta.url))
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
  for (const { words, stdin, shown } of steps) {
    // What the guide says between the commands: the application has been started.
    if (words.join(' ') === 'doctor') {
      const app = await createShop({ database })
      await app.ready()
      await app.close()
    }
    const printed = await run([...words, '--config', config], { cwd: folder, database, stdin })
    t.equal(normalise(printed), normalise(shown), words.join(' '))
  }
})

test('the guide names every command', async (t) => {
  const text = await readFile(guide, 'utf8')
  t.same(
    Object.keys(commands).filter(
      (name) => !text.includes(`\`${name}`) && !text.includes(`fastify-modular ${name}`),
    ),
    [],
  )
})

function run(
  words: readonly string[],
  { cwd, database, stdin }: { readonly cwd: string; readonly database: string; readonly stdin: string },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, DATABASE: database, NODE_ENV: '' }
    const child = spawn(process.execPath, [main, ...words], { cwd, env })
    let printed = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => (printed += String(chunk)))
    child.once('error', reject)
    child.once('close', () => resolve(printed))
    child.stdin.end(stdin)
  })
}
