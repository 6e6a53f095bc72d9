import { test } from 'tap'
import { createTestReport } from '../test-report.mjs'

/** Reports results and returns what was printed and whether the run counts as green. */
function report(...results) {
  const lines = []
  const { add, finish } = createTestReport((text) => lines.push(...text.split('\n')))
  for (const result of results) add(result)
  const isGreen = finish()
  return { isGreen, text: lines.join('\n'), last: lines.at(-1) }
}

const green = {
  path: 'packages/core/dist-test/a.test.js',
  tests: [
    { name: 'one', outcome: 'passed', time: 20.5 },
    { name: 'two', outcome: 'passed', time: 3000 },
    { name: 'left out', outcome: 'skipped', time: 0 },
  ],
  failures: [],
  problem: undefined,
  errors: ['a warning'],
  time: 3039.8,
}

test('tests are counted, and the slowest come first', (t) => {
  const { isGreen, text, last } = report(green, { ...green, path: 'scripts/test/b.test.mjs' })
  t.equal(isGreen, true)
  t.equal(last, '4 passed, 0 failed')
  t.match(text, /^ok {5}core\/a \(2 passed, 3\.0 s\)/)
  t.match(text, /slowest:\n +3\.0 s {2}two\n/)
  t.match(text, /2 skipped/)
  t.notMatch(text, /a warning/, 'standard error belongs to failures')
  t.end()
})

test('a failed test is shown with its details and what the file wrote to standard error', (t) => {
  const { isGreen, text, last } = report({
    ...green,
    tests: [...green.tests, { name: 'three', outcome: 'failed', time: 1 }],
    failures: [
      {
        name: 'three > inner > alike',
        diag: { diff: '-1\n+2', source: 'code', at: {}, stack: 'a.ts:1:2\n' },
      },
      { name: 'four', diag: { at: { lineNumber: 7 } } },
    ],
  })
  t.equal(isGreen, false)
  t.equal(last, '2 passed, 1 failed')
  t.match(text, /FAILED core\/a \(2 passed/)
  t.match(text, / {2}not ok: three > inner > alike\n {4}diff: \n {6}-1\n {6}\+2\n {4}stack: a\.ts:1:2\n/)
  t.match(text, /"lineNumber": 7/)
  t.match(text, / {4}a warning/)
  t.end()
})

test('a file with a problem beside its tests is one failure', (t) => {
  const { isGreen, text, last } = report({ ...green, problem: 'ended with SIGSEGV' })
  t.equal(isGreen, false)
  t.equal(last, '2 passed, 1 failed')
  t.match(text, / {2}ended with SIGSEGV/)
  t.end()
})

test('of a file that ran twice the second result counts, and the summary names it', (t) => {
  const { isGreen, text, last } = report({ ...green, problem: 'ended with SIGSEGV' }, green)
  t.equal(isGreen, true)
  t.equal(last, '2 passed, 0 failed')
  t.match(text, /FAILED core\/a[^]+ok {5}core\/a/)
  t.match(text, /failed among others, run again alone: core\/a\n/)
  t.notMatch(report(green, { ...green, problem: 'no end' }).text, /run again/, 'it passed before')
  t.end()
})

test('no test at all is not green', (t) => {
  const { isGreen, last } = report()
  t.equal(isGreen, false)
  t.equal(last, '0 passed, 1 failed')
  t.end()
})

test('places in compiled tests are shown where they stand in the source', (t) => {
  const place = `${import.meta.dirname}/../../test-support/dist/until.js:4:1`
  const failures = [{ name: 'three', diag: { stack: `at ${place}\nother.js:1:2\n` } }]
  const tests = [{ name: 'three', outcome: 'failed', time: 1 }]
  const { text } = report({ ...green, tests, failures, errors: [`at until (file://${place})`] })
  t.match(text, /stack: \n +at \S+test-support\/src\/until\.ts:5:1\n +other\.js:1:2\n/)
  t.match(text, /at until \(\S+until\.ts:5:1\)/)
  t.end()
})
