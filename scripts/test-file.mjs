// Runs test files in a process group of their own and reads their TAP.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { fileURLToPath } from 'node:url'
import { Parser } from 'tap-parser'
import { endOf } from './test-groups.mjs'

const batch = fileURLToPath(new URL('test-batch.mjs', import.meta.url))

/** Seconds after which tap itself ends a test file, naming what is still open; a silent process is killed later. */
const patience = { tap: 900, kill: 930 }

/** Milliseconds for the rest of the output of a process that has ended; one outside of its group may hold a pipe. */
const rest = 2000

/** The last lines of standard error that the report of a failed file shows. */
const shownErrors = 50

/**
 * Runs the files one after another in one process. Never rejects. Returns for each that was begun
 * - `path`
 * - `before`: the paths of those that ran before it in the process; what they left may be what fails
 * - `tests`: what `test('…')` names at the top of the file, as `{ name, outcome: 'passed' | 'failed' | 'skipped', time }`
 * - `failures`: each failed assertion, as `{ name, diag }`
 * - `problem`: what went wrong beside the tests (a crash, a time-out, no test at all), or undefined
 * - `errors`: the end of standard error
 * - `time`: milliseconds
 * @param {AbortSignal} [signal] ends the process group
 */
export async function runTestFiles(paths, { env = process.env, signal, killAfter = patience.kill } = {}) {
  const child = spawn(process.execPath, paths.length > 1 ? [batch, ...paths] : paths, {
    env: { ...env, TAP: '1', TAP_TIMEOUT: String(patience.tap) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a group, so that nothing that the test started survives it
  })
  const reader = new Reader(paths, { isFiltered: 'TAP_GREP' in env })
  child.stdout.setEncoding('utf8').on('data', (text) => reader.write(text))
  child.stderr.setEncoding('utf8').on('data', (text) => reader.writeError(text))

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
  return reader.end({ killed, code, deadly })
}

/** Divides the output of a process among its files: each but a lonely one ends with a test of its name. */
class Reader {
  #paths
  #isFiltered
  #parser = new Parser()
  #results = []
  #file
  /** Whether the last file has ended: what comes then concerns the process. */
  #isOver = false

  constructor(paths, { isFiltered }) {
    this.#paths = paths
    this.#isFiltered = isFiltered
    this.#begin()
    this.#parser.on('assert', (assert) => this.#read(assert))
    collectFailures(this.#parser, () => this.#file.failures)
  }

  write(text) {
    this.#parser.write(text)
  }

  writeError(text) {
    const { errors } = this.#file
    errors.push(...stripVTControlCharacters(text).trimEnd().split('\n'))
    errors.splice(0, errors.length - shownErrors)
  }

  end({ killed, code, deadly }) {
    this.#parser.end()
    const left = code === 0 ? undefined : `ended with ${deadly ?? `code ${code}`}`
    const isCut = this.#paths.length > 1 && !this.#isOver
    const problem =
      left ?? (this.#parser.ok ? (isCut ? 'left before its end' : undefined) : 'its TAP is incomplete')
    const isSaid = this.#isOver && deadly === null && this.#results.some(hasFailed) // the process fails for an earlier file
    this.#finish(killed ?? (isSaid ? undefined : problem))
    return this.#results
  }

  #read({ name, ok, skip, todo, time }) {
    const { path, tests } = this.#file
    if (this.#paths.length > 1 && name === endOf(path)) return this.#next()
    if (String(skip).startsWith('filter: ')) return // --grep did not choose it
    const outcome = skip || todo ? 'skipped' : ok ? 'passed' : 'failed'
    tests.push({ name, outcome, time: time ?? 0 })
  }

  #next() {
    this.#isOver = this.#results.length === this.#paths.length - 1
    if (this.#isOver) return
    this.#finish()
    this.#begin()
  }

  #begin() {
    const path = this.#paths[this.#results.length]
    const before = this.#results.map((result) => result.path)
    const time = performance.now()
    this.#file = { path, before, tests: [], failures: [], problem: undefined, errors: [], time }
  }

  #finish(problem) {
    const isEmpty = this.#file.tests.length === 0 && !this.#isFiltered
    if (!hasFailed(this.#file)) this.#file.problem = problem ?? (isEmpty ? 'no test ran' : undefined)
    this.#file.time = performance.now() - this.#file.time
    this.#results.push(this.#file)
  }
}

const hasFailed = ({ tests }) => tests.some(({ outcome }) => outcome === 'failed')

/** The innermost of what failed: a test around a failed assertion says nothing more. */
function collectFailures(parser, failures) {
  parser.on('child', (child) => collectFailures(child, failures))
  parser.on('assert', ({ ok, skip, todo, fullname, diag }) => {
    const isKnown = failures().some(({ name }) => name.startsWith(`${fullname} > `))
    if (!ok && !skip && !todo && !isKnown) failures().push({ name: fullname, diag: diag ?? {} })
  })
}

function killGroup({ pid }) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // it has ended already
  }
}
