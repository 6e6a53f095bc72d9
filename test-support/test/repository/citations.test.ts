/** What documents and sources cite, tests and rulings, exists. */
import { test } from 'tap'
import { repositoryFiles, textOf } from './sources.js'

/** One row of the table. */
interface CoverageRow {
  readonly rule: string
  readonly source: string
  /** Empty while nothing proves the rule. */
  readonly file: string
  readonly testName: string
}

/** Parses the rows of the table. */
function coverageRows(markdown: string): CoverageRow[] {
  return markdown
    .split('\n')
    .filter((line) => /\| (?:S \d|guide \|)/.test(line))
    .map((line) => {
      const [rule = '', source = '', file = '', testName = ''] = line
        .split(/(?<!\\)\|/)
        .slice(1)
        .map((cell) => cell.trim().replaceAll('\\|', '|'))
      return { rule, source, file: file.replaceAll('`', ''), testName }
    })
}

/** Returns what is wrong with a row; `textOf` gives a file's text, or undefined when there is no such file. */
function rowProblem(
  { rule, source, file, testName }: CoverageRow,
  textOf: (path: string) => string | undefined,
): string | undefined {
  if (file === '' || testName === '') return `no test proves: ${rule} (${source})`
  const text = textOf(file)
  if (text === undefined) return `${rule} (${source}) names a file that does not exist: ${file}`
  return testNames(text).includes(testName) ? undefined : `${file} has no test named: ${testName}`
}

/** The names of all tests of a file: titles of `test()`, and the sentences that name the rows of a table of tests. */
function testNames(text: string): string[] {
  return [...text.matchAll(/(?:\btest\(\s*|^\s*|\[)(['"`])((?:\\.|(?!\1)[^\n\\])*)\1(?=[,:)])/gm)].map(
    (match) => (match[2] ?? '').replaceAll(/\\(.)/g, '$1'),
  )
}

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

/** `service/reads`: a sentence. The sentence may be missing: then the whole file is meant. */
const citation =
  /`((?:service|http|stream|types|values|definitions|testing|client|openfeature)\/[\w./-]+)`(?:: ([^;|\n]+?))?(?= \||;| and )/g

test('docs/internal/comparison.md says of us what a test shows', async (t) => {
  const files = repositoryFiles().filter((path) => path.startsWith('packages/settings/test/'))
  const problems = [...textOf('docs/internal/comparison.md').matchAll(citation)].flatMap(
    ([, file = '', sentence]) => {
      const path = files.find((each) => each.replace(/(?:\.test)?\.ts$/, '').endsWith(`/test/${file}`))
      if (path === undefined) return [`${file} does not exist`]
      if (sentence === undefined || sentence.startsWith('compiled')) return []
      return testNames(textOf(path)).some((name) => name.startsWith(sentence))
        ? []
        : [`${path} has no test named: ${sentence}`]
    },
  )
  t.same(problems, [])
})

/** "decision 12", "decisions 48 and 95", "decisions 25, 28, 29". */
const rulingCitation = /\bdecisions? (\d+[a-z]?(?:(?:, | and )\d+[a-z]?)*)/gi

test('every ruling that a source, a test or a document cites is in docs/internal/rulings.md, once', async (t) => {
  const rulings = [...textOf('docs/internal/rulings.md').matchAll(/^- \*\*(\d+[a-z]?)\*\* /gm)].map(
    ([, it]) => it,
  )
  t.same(rulings, [...new Set(rulings)])
  const cited = repositoryFiles()
    .filter((path) => /\.(?:tsx?|mjs|md)$/.test(path))
    .flatMap((path) =>
      [...textOf(path).matchAll(rulingCitation)].flatMap(([, list = '']) =>
        list.split(/, | and /).map((number) => ({ path, number })),
      ),
    )
  t.ok(cited.length > 200, 'citations were found')
  t.same(
    cited.filter(({ number }) => !rulings.includes(number)),
    [],
  )
})
