import { test } from 'tap'
import { createTapReport } from '../tap-report.mjs'

/** Reads TAP and returns what was printed and whether the run counts as green. */
function report(tap, problem) {
  const lines = []
  const reader = createTapReport((line) => lines.push(line))
  for (const line of tap.split('\n')) reader.read(line)
  const isGreen = reader.finish(problem)
  return { isGreen, text: lines.join('\n'), last: lines.at(-1) }
}

const green = `TAP version 14
# Subtest: packages/core/dist-test/a.test.js
    # Subtest: one
        ok 1 - inner
        not ok 2 - a string of the inner level is not counted
        1..2
    ok 1 - one # time=20.5ms
    ok 2 - two # time=3000ms
    ok 3 - left out # SKIP no browser
    1..3
ok 1 - packages/core/dist-test/a.test.js # time=39.8ms
Statements   : 98.75% ( 317/321 )
# { total: 3, pass: 2, skip: 1 }`

test('tests are counted, not assertions, and the slowest come first', (t) => {
  const { isGreen, text, last } = report(green)
  t.equal(isGreen, true)
  t.equal(last, '2 passed, 0 failed')
  t.match(text, /^ok {5}core\/a \(2 passed, 0\.0 s\)/)
  t.match(text, /slowest: \n +3\.0 s {2}two\n/)
  t.match(text, /1 skipped/)
  t.match(text, /Statements/)
  t.end()
})

test('a failing test is shown with its details, without what passed', (t) => {
  const tap = green
    .replace('    ok 2 - two # time=3000ms', '    not ok 2 - two # time=1ms\n      ---\n      why: because')
    .replace('\nok 1', '\nnot ok 1')
  const { isGreen, text, last } = report(tap)
  t.equal(isGreen, false)
  t.equal(last, '1 passed, 1 failed')
  t.match(text, /why: because/)
  t.notMatch(text, /ok 1 - inner/)
  t.end()
})

test('a file that crashes beside its tests is one failure', (t) => {
  const tap = `# Subtest: test-support/dist-test/b.test.js
    ok 1 - one # time=1ms
not ok 1 - test-support/dist-test/b.test.js # time=2ms
  ---
  exitCode: null
  signal: SIGSEGV
  ...`
  const { isGreen, text, last } = report(tap)
  t.equal(isGreen, false)
  t.equal(last, '1 passed, 1 failed')
  t.match(text, /signal: SIGSEGV/)
  t.end()
})

test('a run that ends badly is not green, even when no test failed', (t) => {
  const { isGreen, text, last } = report(green, 'tap ended with SIGKILL')
  t.equal(isGreen, false)
  t.match(text, /tap ended with SIGKILL/)
  t.equal(last, '2 passed, 1 failed')
  t.equal(report('', 'tap ended with code 1').last, '0 passed, 1 failed')
  t.equal(report('').isGreen, false, 'no test at all is not green either')
  t.end()
})
