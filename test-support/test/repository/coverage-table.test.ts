import { test } from 'tap'
import { coverageRows, rowProblem, testNames } from './coverage-table.js'
import { repositoryFiles, textOf } from './sources.js'

const files = new Set(repositoryFiles())
const rows = coverageRows(textOf('docs/internal/specification-coverage.md'))

test('every rule of the specification is proven by a test that exists', (t) => {
  t.ok(rows.length > 100, 'the table was read')
  t.same(
    rows.flatMap((row) => rowProblem(row, (path) => (files.has(path) ? textOf(path) : undefined)) ?? []),
    [],
  )
  t.end()
})

test('every subsection of the specification has a row', (t) => {
  const sections = [...textOf('docs/specification.md').matchAll(/^#{2,3} ([2-8](?:\.\d+)?)\.? /gm)].map(
    (match) => match[1],
  )
  t.ok(sections.length > 20)
  const withParts = new Set(['2', '4', '7'])
  t.same(
    sections.filter(
      (section) =>
        !withParts.has(section ?? '') && !rows.some(({ source }) => `${source}.`.startsWith(`S ${section}.`)),
    ),
    [],
  )
  t.end()
})

test('a missing file, a missing test and an empty row are found', (t) => {
  const source = "test('S 1: it is `so`', async (t) => {})\ntest(\n  \"it's\", () => {})"
  const read = (path: string): string | undefined => (path === 'a.test.ts' ? source : undefined)
  const problemOf = (line: string): (string | undefined)[] =>
    coverageRows(line).map((row) => rowProblem(row, read))
  t.same(problemOf('| a | S 1 | a.test.ts | S 1: it is `so` |'), [undefined])
  t.same(problemOf("| a \\| b | S 1.2 | `a.test.ts` | it's |"), [undefined])
  t.match(problemOf('| a | S 1 | a.test.ts | other |'), [/has no test named: other/])
  t.match(problemOf('| a | S 1 | b.test.ts | it |'), [/does not exist: b/])
  t.match(problemOf('| a | S 1 | | |'), [/no test proves: a \(S 1\)/])
  t.same(problemOf('| rule | said in | test file | test |'), [])
  t.same(testNames(String.raw`test('it\'s', f)`), ["it's"])
  t.same(testNames("  'S 1: a row': {\n  ['S 2: another', 1],\n  t.equal(a, 'S 3: a message')"), [
    'S 1: a row',
    'S 2: another',
  ])
  t.end()
})
