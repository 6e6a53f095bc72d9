// Turns the TAP of a whole run into one line per file, the details of failures, and the closing line.

/** How many of the slowest tests are shown. */
const shown = 5

/**
 * Returns a reader of TAP lines. A test is what `test('…')` names at the top of a file; a file that fails
 * beside its tests (a crash, a time-out) counts as one failed test.
 */
export function createTapReport(print) {
  const total = { passed: 0, failed: 0, skipped: 0 }
  const tests = []
  const coverage = []
  let file = freshFile()
  let hasJustFailed = false

  const read = (line) => {
    const result =
      /^( {4})?(not )?ok \d+(?: - (.*?))?(?: # (?:time=([\d.]+)ms|(SKIP|TODO).*))?(?: \{)?$/.exec(line)
    if (result) {
      const [, indent, not, name = '', time, directive] = result
      if (indent) readTest({ isOk: !not, name, time: Number(time ?? 0), directive })
      else readFile({ isOk: !not, name, time: Number(time ?? 0) })
    } else if (line.startsWith('# Subtest: ')) {
      file = freshFile()
      hasJustFailed = false
    } else if (hasJustFailed && /^ {2}(exitCode|signal|failure|expired|timeout):/.test(line)) print(line)
    else if (/^(Statements|Branches|Functions|Lines) +:/.test(line)) coverage.push(line)
    file.lines.push(line)
  }

  const readTest = ({ isOk, name, time, directive }) => {
    if (directive) file.skipped++
    else if (isOk) file.passed++
    else file.failed++
    tests.push({ name, time })
  }

  const readFile = ({ isOk, name, time }) => {
    if (!isOk && file.failed === 0) file.failed = 1
    print(`${isOk ? 'ok    ' : 'FAILED'} ${shorten(name)} (${file.passed} passed, ${seconds(time)})`)
    if (!isOk) print(file.lines.filter(isTelling).join('\n'))
    for (const count of ['passed', 'failed', 'skipped']) total[count] += file[count]
    file = freshFile()
    hasJustFailed = !isOk
  }

  /** Prints the summary and returns whether everything passed. `problem` is what else went wrong with the run. */
  const finish = (problem) => {
    const slowest = tests.toSorted((a, b) => b.time - a.time).slice(0, shown)
    print(
      `\nslowest: ${slowest.map(({ name, time }) => `\n  ${seconds(time).padStart(7)}  ${name}`).join('')}`,
    )
    if (coverage.length > 0) print(`coverage:\n  ${coverage.join('\n  ')}`)
    if (total.skipped > 0) print(`${total.skipped} skipped`)
    const wrong = problem ?? (total.passed === 0 ? 'no test ran' : undefined)
    if (wrong !== undefined && total.failed === 0) {
      print(wrong)
      total.failed = 1
    }
    print(`${total.passed} passed, ${total.failed} failed`)
    return total.failed === 0
  }
  return { read, finish }
}

const freshFile = () => ({ passed: 0, failed: 0, skipped: 0, lines: [] })

const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(1)} s`

/** `packages/core/dist-test/caller.test.js` → `core/caller` */
const shorten = (path) =>
  path
    .replace(/^packages\//, '')
    .replace('dist-test/', '')
    .replace(/\.test\.js$/, '')

/** Of a failed file: everything but what passed. */
const isTelling = (line) => line.trim() !== '' && !/^ *(ok \d|# Subtest|\d+\.\.\d)/.test(line)
