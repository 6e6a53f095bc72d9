import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'
import { until } from '../../test-support/dist/until.js'
import { runTestFile } from '../test-file.mjs'

/** Node finds `tap` from there. */
const here = fileURLToPath(new URL('.', import.meta.url))

// With the variables of this run the inner one would be a part of it.
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/TAP|^NODE_OPTIONS$/.test(name)),
)

/** Writes a test file into a folder of its own and returns its path. */
function write(t, source) {
  const folder = mkdtempSync(join(here, '.file-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'a.test.mjs')
  writeFileSync(path, `import { test } from 'tap'\n${source}`)
  return path
}

const run = (t, source) => runTestFile(write(t, source), { env })

const isRunning = (pid) => {
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

test('tests are those at the top of the file, with their outcomes', async (t) => {
  const { tests, failures, problem } = await run(
    t,
    `test('good', async (t) => { t.ok(1); await t.test('inner', async (t) => t.ok(2)) })
     test('bad', async (t) => { await t.test('inner', async (t) => t.same({ a: 1 }, { a: 2 }, 'alike')) })
     test('left out', { skip: 'no browser' }, async () => {})`,
  )
  t.match(tests, [
    { name: 'good', outcome: 'passed', time: Number },
    { name: 'bad', outcome: 'failed' },
    { name: 'left out', outcome: 'skipped' },
  ])
  t.match(failures, [{ name: 'bad > inner > alike', diag: { diff: /"a": 1/, stack: /a\.test\.mjs/ } }])
  t.equal(failures.length, 1, 'the tests around it are not failures of their own')
  t.equal(problem, undefined)
})

test('a file that crashes beside its tests has a problem, and the end of its standard error', async (t) => {
  const crash = `test('one', async (t) => { t.ok(1) })
    process.on('exit', () => { console.error('the last words'); process.kill(process.pid, 'SIGSEGV') })`
  const { problem, errors } = await run(t, crash)
  t.match(problem, /SIGSEGV/)
  t.match(errors.join('\n'), /the last words/)
})

test('a file with a syntax error, one without tests, and one that leaves in the middle are problems', async (t) => {
  t.match((await run(t, 'test(')).problem, /ended with code 1/)
  t.match((await run(t, '')).problem, /no test ran/)
  const early = `test('one', async (t) => { t.ok(1) }); test('two', async () => process.reallyExit(0))`
  t.match((await run(t, early)).problem, /incomplete/)
})

test('an interrupted file ends with everything that it started', async (t) => {
  const path = write(
    t,
    `import { spawn } from 'node:child_process'
     import { writeFileSync } from 'node:fs'
     test('one', async () => {
       const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' })
       writeFileSync(new URL('pid', import.meta.url), String(child.pid))
       await new Promise(() => setInterval(() => {}, 1000))
     })`,
  )
  const stop = new AbortController()
  const result = runTestFile(path, { env, signal: stop.signal })
  const pid = join(path, '..', 'pid')
  await until(() => existsSync(pid) && readFileSync(pid, 'utf8') !== '')
  stop.abort()
  t.equal((await result).problem, 'interrupted')
  await until(() => !isRunning(Number(readFileSync(pid, 'utf8'))))
})

test('a file that does not end is killed', async (t) => {
  const path = write(t, `test('one', () => new Promise(() => setInterval(() => {}, 1000)))`)
  const { problem } = await runTestFile(path, { env, killAfter: 0.2 })
  t.equal(problem, 'no end after 0.2 s')
})
