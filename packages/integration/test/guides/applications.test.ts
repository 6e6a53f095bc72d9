/** The applications that the guides build, file by file: they compile, answer as the guides show, and pass their tests. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { spawnApp } from '@fastify-modular/test-support/spawn-app'
import { replay, stepsOf } from '@fastify-modular/test-support/transcript'
import { test } from 'tap'
import { blockOf, changesOf, type Files, filesOf, guide } from './guide-files.js'

const root = new URL('../../../../', import.meta.url)
const run = promisify(execFile)
/** Milliseconds after which a compiler or a test run that has not ended has failed. */
const timeout = 240_000

/** Each state of the application whose answers a guide shows: what it has so far, and the answers. */
function states(markdown: string) {
  const parts = [...markdown.matchAll(/[^]*?^```console\n[^]*?^```$/gm)].map(([part]) => part)
  return parts.map((part, at) => ({ files: filesOf(parts.slice(0, at + 1).join('')), steps: stepsOf(part) }))
}

const started = states(guide('getting-started'))
const finished = filesOf(guide('getting-started'))
const written = filesOf(guide('writing-a-module'))
const tested = filesOf(guide('testing'))
const published: Files = {
  'src/invoices.ts': written['billing/invoices.ts'] ?? '',
  'src/settings.ts': written['billing/settings.ts'] ?? '',
  ...filesOf(guide('publishing-a-module')),
}

/** Inside of this package, so that its packages are found, and where nothing looks for tests. */
const data = fileURLToPath(new URL('packages/integration/data/', root))
mkdirSync(data, { recursive: true })
const folder = mkdtempSync(join(data, 'guides-'))

function write(name: string, files: Files): void {
  for (const [path, code] of Object.entries(files)) {
    const file = join(folder, name, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, code)
  }
}

/** Runs the tests of an application: `13 passed, 0 skipped`, or what they print when one fails. */
async function passing(name: string, files: Files, env: NodeJS.ProcessEnv): Promise<string> {
  const tests = Object.keys(files)
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => path.replace('.ts', '.js'))
  const args = ['--test', '--test-reporter', 'tap', ...tests]
  const environment = { ...process.env, NODE_V8_COVERAGE: '', NODE_OPTIONS: '', ...env }
  const { stdout } = await run(process.execPath, args, {
    cwd: join(folder, name),
    env: environment,
    timeout,
  }).catch((error: unknown) => ({ stdout: String(Reflect.get(Object(error), 'stdout')) }))
  const count = (what: string) => new RegExp(`^# ${what} (\\d+)$`, 'm').exec(stdout)?.[1]
  return count('fail') === '0' ? `${count('pass')} passed, ${count('skipped')} skipped` : stdout
}

test('the applications of the guides', async (t) => {
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  for (const [at, { files }] of started.entries()) write(`started-${at}`, files)
  write('finished', finished)
  write('written', written)
  write('tested', tested)
  write('published', published)

  await t.test('compile with the options that the first guide shows', async (t) => {
    const { compilerOptions } = JSON.parse(blockOf(guide('getting-started'), 'json')) as {
      compilerOptions: object
    }
    const emitting = { noEmit: false, rewriteRelativeImportExtensions: true, skipLibCheck: true }
    const options = { ...compilerOptions, ...emitting }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options }))
    const tsc = createRequire(new URL('package.json', root)).resolve('typescript/bin/tsc')
    try {
      await run(process.execPath, [tsc, '--project', folder], { timeout })
    } catch (error) {
      t.fail(String(Reflect.get(Object(error), 'stdout')))
    }
  })

  await t.test('change as the guides say: what a diff starts from is what was there', async (t) => {
    for (const markdown of [guide('getting-started'), guide('writing-a-module')]) {
      for (const { name, before, index } of changesOf(markdown))
        t.equal(before, filesOf(markdown.slice(0, index))[name], name)
    }
  })

  await t.test('getting started: each step answers as the guide shows', async (t) => {
    t.equal(started.length, 6)
    for (const [at, { steps }] of started.entries()) {
      // One working directory for all, since the database of one step is that of the next.
      const server = join(folder, `started-${at}`, 'server.js')
      const app = await spawnApp(server, { cwd: folder, env: { PORT: '0' } })
      t.teardown(() => app.stop())
      await replay(t, steps, app.url)
      await app.stop()
    }
  })

  for (const [name, files, expected] of [
    ['finished', finished, '3 passed, 0 skipped'],
    ['written', written, '3 passed, 0 skipped'],
    ['published', published, '8 passed, 0 skipped'],
    ['tested', tested, '8 passed, 0 skipped'],
  ] as const) {
    await t.test(`the application that is ${name} passes its tests`, async (t) => {
      const { url } = await testDatabase(t)
      // The committed access.json of a reader is written by the first run, which compares it as well.
      const environment = { TEST_DATABASE_URL: url, UPDATE_SNAPSHOTS: '1', CI: '' }
      t.equal(await passing(name, files, environment), expected)
    })
  }
})
