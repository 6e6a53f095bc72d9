// Prints the results of test files: one line each, the details of failures, and the closing line.
import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, join } from 'node:path'

/** How many of the slowest tests are shown. */
const shown = 5

/**
 * Takes what `runTestFiles` returns of one file. A file that fails beside its tests (a crash, a time-out) counts as one failed test; of a
 * file that is added twice the second result counts, and the summary names it where the first one failed.
 * @param print takes text without its last line break
 */
export function createTestReport(print) {
  const results = new Map()
  const repeated = []

  const add = (result) => {
    const { path, tests, failures, problem, errors, time } = result
    if (tests.length === 0 && problem === undefined) return // --grep chose none of them
    const first = results.get(path)
    if (first && countOf([first]).failed > 0) repeated.push(path)
    results.set(path, result)
    const { passed, failed } = countOf([result])
    print(`${failed === 0 ? 'ok    ' : 'FAILED'} ${shorten(path)} (${passed} passed, ${seconds(time)})`)
    if (failed === 0) return
    for (const { name, diag } of failures) print(toSources(`  not ok: ${name}\n${describe(diag)}`))
    if (problem !== undefined) print(`  ${problem}`)
    if (errors.length > 0) print(toSources(['  standard error:', ...errors].join('\n    ')))
  }

  /** The files that failed, as they were added. */
  const failedFiles = () => [...results.values()].filter((result) => countOf([result]).failed > 0)

  /** Prints the summary and returns whether everything passed. */
  const finish = () => {
    const all = [...results.values()].flatMap(({ tests }) => tests)
    const slowest = all.toSorted((a, b) => b.time - a.time).slice(0, shown)
    print(
      `\nslowest:${slowest.map(({ name, time }) => `\n  ${seconds(time).padStart(7)}  ${name}`).join('')}`,
    )
    const { passed, failed, skipped } = countOf([...results.values()])
    if (skipped > 0) print(`${skipped} skipped`)
    if (repeated.length > 0)
      print(`failed among others, run again alone: ${repeated.map(shorten).join(', ')}`)
    if (passed + failed === 0) print('no test ran')
    const wrong = passed + failed === 0 ? 1 : failed
    print(`${passed} passed, ${wrong} failed`)
    return wrong === 0
  }
  return { add, failedFiles, finish }
}

function countOf(results) {
  const tests = results.flatMap((result) => result.tests)
  const count = (wanted) => tests.filter(({ outcome }) => outcome === wanted).length
  const problems = results.filter(({ problem }) => problem !== undefined).length
  return { passed: count('passed'), failed: count('failed') + problems, skipped: count('skipped') }
}

const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(1)} s`

/** `packages/core/dist-test/caller.test.js` → `core/caller` */
const shorten = (path) =>
  path
    .replace(/^packages\//, '')
    .replace('dist-test/', '')
    .replace(/\.test\.js$/, '')

/** `dist-test/x.test.js:3:7` → `test/x.test.ts:2:5`. Node does so with a flag that takes a tenth of the CPU time of all tests. */
function toSources(text) {
  return text.replace(/(?:file:\/\/)?([^\s()]+\.js):(\d+):(\d+)/g, (place, file, line, column) => {
    if (!existsSync(`${file}.map`)) return place
    const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')))
    const { fileName, lineNumber, columnNumber } = map.findOrigin(Number(line), Number(column))
    return fileName === undefined ? place : `${join(dirname(file), fileName)}:${lineNumber}:${columnNumber}`
  })
}

/** The diagnostics of a failed assertion; the stack tells where, and the source can be read there. */
function describe(diag) {
  const entries = Object.entries(diag).filter(([name]) => name !== 'source' && !(name === 'at' && diag.stack))
  return entries.map(([name, value]) => `    ${name}: ${indent(value)}`).join('\n')
}

function indent(value) {
  const text = (typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')).trimEnd()
  return text.includes('\n') ? `\n${text}`.replaceAll('\n', '\n      ') : text
}
