import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'
import { until } from '../../test-support/dist/until.js'
import { runTestFiles } from '../test-file.mjs'
import { groupFiles } from '../test-groups.mjs'

/** Node finds `tap` from there. */
const here = fileURLToPath(new URL('.', import.meta.url))

// With the variables of this run the inner one would be a part of it.
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/TAP|^NODE_OPTIONS$/.test(name)),
)

/** Writes test files into a folder of its own and returns their paths. */
function write(t, ...sources) {
  const folder = mkdtempSync(join(here, '.file-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return sources.map((source, at) => {
    const path = join(folder, `${'abc'[at]}.test.mjs`)
    writeFileSync(path, `import { test } from 'tap'\n${source}`)
    return path
  })
}

async function run(t, source) {
  const [result] = await runTestFiles(write(t, source), { env })
  return result
}

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
  const [path] = write(
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
  const result = runTestFiles([path], { env, signal: stop.signal })
  const pid = join(path, '..', 'pid')
  await until(() => existsSync(pid) && readFileSync(pid, 'utf8') !== '')
  stop.abort()
  t.match(await result, [{ problem: 'interrupted' }])
  await until(() => !isRunning(Number(readFileSync(pid, 'utf8'))))
})

test('a file that does not end is killed', async (t) => {
  const paths = write(t, `test('one', () => new Promise(() => setInterval(() => {}, 1000)))`)
  t.match(await runTestFiles(paths, { env, killAfter: 0.2 }), [{ problem: 'no end after 0.2 s' }])
})

const passes = (name) => `test('${name}', async (t) => { t.ok(1) });`
const fails = (name) => `test('${name}', async (t) => { t.ok(0, 'is so') });`

/** Of files that share a process: the name of the file, its tests, its failures and its problem. */
async function share(t, ...sources) {
  const results = await runTestFiles(write(t, ...sources), { env })
  return results.map(({ path, tests, failures, problem }) => [
    path.at(-'a.test.mjs'.length),
    tests.map(({ name, outcome }) => `${name} ${outcome}`),
    failures.map(({ name }) => name),
    problem,
  ])
}

test('files that share a process have their own tests and failures', async (t) => {
  t.same(await share(t, fails('one'), passes('two') + passes('three'), passes('four')), [
    ['a', ['one failed'], ['one > is so'], undefined],
    ['b', ['two passed', 'three passed'], [], undefined],
    ['c', ['four passed'], [], undefined],
  ])
  t.match(await share(t, passes('one'), ''), [
    ['a', ['one passed']],
    ['b', [], [], 'no test ran'],
  ])
})

test('a file that ends the process has the problem, and the next ones are not begun', async (t) => {
  const leaves = `test('two', async () => process.reallyExit(3))`
  t.match(await share(t, fails('one'), leaves, passes('three')), [
    ['a', ['one failed'], ['one > is so'], undefined],
    ['b', [], [], 'ended with code 3'],
  ])
  t.match(await share(t, passes('one'), 'test('), [
    ['a', ['one passed']],
    ['b', [], [], 'ended with code 1'],
  ])
})

test('a file that ends the process between its tests, with success, has the problem', async (t) => {
  const leaves = `${passes('two')} await new Promise((resolve) => setTimeout(resolve, 100)); process.exit(0)`
  for (const next of [[], [passes('three')]])
    t.match(await share(t, passes('one'), leaves, ...next), [
      ['a', ['one passed'], [], undefined],
      ['b', ['two passed'], [], 'left before its end'],
    ])
})

test('a crash after the last file is a problem, although an earlier file failed', async (t) => {
  const crashes = `${passes('two')} process.on('exit', () => process.kill(process.pid, 'SIGSEGV'))`
  t.match(await share(t, fails('one'), crashes), [
    ['a', ['one failed']],
    ['b', ['two passed'], [], 'ended with SIGSEGV'],
  ])
})

test('a file whose failure comes late is named by the one that it fails', async (t) => {
  const late = `test('one', async (t) => { t.ok(1); setTimeout(() => Promise.reject(new Error('late')), 100) })`
  const slow = `test('two', () => new Promise((resolve) => setTimeout(resolve, 300)))`
  const paths = write(t, late, slow)
  t.match(await runTestFiles(paths, { env }), [
    { path: paths[0], before: [] },
    { path: paths[1], before: [paths[0]], tests: [{ outcome: 'failed' }] },
  ])
})

test('a file that does not end is named, among others too', async (t) => {
  const waits = `test('two', async () => {
    writeFileSync(new URL('begun', import.meta.url), '')
    await new Promise(() => setInterval(() => {}, 1000))
  })`
  const paths = write(t, passes('one'), `import { writeFileSync } from 'node:fs'\n${waits}`)
  const stop = new AbortController()
  const results = runTestFiles(paths, { env, signal: stop.signal })
  await until(() => existsSync(join(paths[0], '..', 'begun')))
  stop.abort()
  t.match(await results, [{ problem: undefined }, { path: paths[1], problem: 'interrupted' }])
})

test('files share a process in groups of one size, and alone run those that say so', (t) => {
  const paths = ['a', 'b', 'c', 'd', 'browser/e'].map((name) => `packages/core/dist-test/${name}.test.js`)
  const [a, b, c, d, e] = paths
  const read = (path) =>
    path === b ? '// Runs alone: it counts what is left\n' : "import { test } from 'tap'\n"
  t.same(groupFiles(paths, 2, read), [[a, c], [b], [d], [e]])
  t.same(groupFiles(paths, 4, read), [[a], [b], [c], [d], [e]], 'no job has nothing to do')
  t.same(
    groupFiles([a, c], 1, () => "import t, { test } from 'tap'"),
    [[a], [c]],
  )
  t.end()
})
