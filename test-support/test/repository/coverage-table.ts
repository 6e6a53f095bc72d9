/** Which test proves which rule: the table in docs/internal/specification-coverage.md. */

/** One row of the table. */
export interface CoverageRow {
  readonly rule: string
  readonly source: string
  /** Empty while nothing proves the rule. */
  readonly file: string
  readonly testName: string
}

/** Parses the rows of the table. */
export function coverageRows(markdown: string): CoverageRow[] {
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
export function rowProblem(
  { rule, source, file, testName }: CoverageRow,
  textOf: (path: string) => string | undefined,
): string | undefined {
  if (file === '' || testName === '') return `no test proves: ${rule} (${source})`
  const text = textOf(file)
  if (text === undefined) return `${rule} (${source}) names a file that does not exist: ${file}`
  return testNames(text).includes(testName) ? undefined : `${file} has no test named: ${testName}`
}

/** The names of all tests of a file: titles of `test()`, and the sentences that name the rows of a table of tests. */
export function testNames(text: string): string[] {
  return [...text.matchAll(/(?:\btest\(\s*|^\s*|\[)(['"`])((?:\\.|(?!\1)[^\n\\])*)\1(?=[,:)])/gm)].map(
    (match) => (match[2] ?? '').replaceAll(/\\(.)/g, '$1'),
  )
}
