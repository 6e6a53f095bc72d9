// Runs one test file in a process group of its own and reads its TAP.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { Parser } from 'tap-parser'

/** Seconds after which tap itself ends a test file, naming what is still open; a silent process is killed later. */
const patience = { tap: 900, kill: 930 }

/** Milliseconds for the rest of the output of a process that has ended; one outside of its group may hold a pipe. */
const rest = 2000

/** The last lines of standard error that the report of a failed file shows. */
const shownErrors = 50

/**
 * Never rejects. Returns
 * - `tests`: what `test('…')` names at the top of the file, as `{ name, outcome: 'passed' | 'failed' | 'skipped', time }`
 * - `failures`: each failed assertion, as `{ name, diag }`
 * - `problem`: what went wrong beside the tests (a crash, a time-out, no test at all), or undefined
 * - `errors`: the end of standard error
 * - `time`: milliseconds
 * @param {AbortSignal} [signal] ends the process group
 */
export async function runTestFile(path, { env = process.env, signal, killAfter = patience.kill } = {}) {
  const start = performance.now()
  const child = spawn(process.execPath, [path], {
    env: { ...env, TAP: '1', TAP_TIMEOUT: String(patience.tap) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a group, so that nothing that the test started survives it
  })
  const { tests, failures, parser } = createReader()
  const errors = []
  child.stdout.setEncoding('utf8').on('data', (text) => parser.write(text))
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors.push(...stripVTControlCharacters(text).trimEnd().split('\n'))
    errors.splice(0, errors.length - shownErrors)
  })

  const closed = once(child, 'close').catch(() => {})
  let killed
  const kill = (reason) => {
    killed = reason
    killGroup(child)
  }
  const timer = new AbortController()
  setTimeout(killAfter * 1000, undefined, timer)
    .then(() => kill(`no end after ${killAfter} s`))
    .catch(() => {})
  const onAbort = () => kill('interrupted')
  if (signal?.aborted) onAbort()
  else signal?.addEventListener('abort', onAbort, { once: true })
  const [code, deadly] = await once(child, 'exit').catch((error) => [String(error), null])
  timer.abort()
  signal?.removeEventListener('abort', onAbort)
  killGroup(child) // what the test left running holds the pipes open
  await Promise.race([closed, setTimeout(rest)])
  parser.end()

  const isFiltered = 'TAP_GREP' in env
  const problem = killed ?? problemOf({ tests, code, deadly, isComplete: parser.ok, isFiltered })
  return { path, tests, failures, problem, errors, time: performance.now() - start }
}

/** What is wrong with a file beside its failed tests, which say it themselves. */
function problemOf({ tests, code, deadly, isComplete, isFiltered }) {
  if (tests.some(({ outcome }) => outcome === 'failed')) return undefined
  if (code !== 0) return `ended with ${deadly ?? `code ${code}`}`
  if (!isComplete) return 'its TAP is incomplete'
  return tests.length === 0 && !isFiltered ? 'no test ran' : undefined
}

function createReader() {
  const tests = []
  const failures = []
  const parser = new Parser()
  parser.on('assert', ({ name, ok, skip, todo, time }) => {
    if (String(skip).startsWith('filter: ')) return // --grep did not choose it
    const outcome = skip || todo ? 'skipped' : ok ? 'passed' : 'failed'
    tests.push({ name, outcome, time: time ?? 0 })
  })
  collectFailures(parser, failures)
  return { tests, failures, parser }
}

/** The innermost of what failed: a test around a failed assertion says nothing more. */
function collectFailures(parser, failures) {
  parser.on('child', (child) => collectFailures(child, failures))
  parser.on('assert', ({ ok, skip, todo, fullname, diag }) => {
    const isKnown = failures.some(({ name }) => name.startsWith(`${fullname} > `))
    if (!ok && !skip && !todo && !isKnown) failures.push({ name: fullname, diag: diag ?? {} })
  })
}

function killGroup({ pid }) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // it has ended already
  }
}
