/** Error codes are API: each is written down and each is provoked by a test. */
import { STATUS_CODES } from 'node:http'
import { test } from 'tap'
import { sourceFiles, textOf } from './sources.js'

/** Returns the misuse codes (`FMOD_…`) that a source file defines by `createErrorCodes`. */
function misuseCodes(text: string): string[] {
  const [, ...tables] = text.split('createErrorCodes({')
  return tables.flatMap((table) =>
    [...table.matchAll(/^\s*(FMOD_[A-Z0-9_]+):/gm)].map((match) => match[1] ?? ''),
  )
}

/** Returns the domain codes (`NOT_FOUND`, …) that a source file writes down: of exceptions, problems and clients. */
function domainCodes(text: string): string[] {
  return [...text.matchAll(/\bcode: '(?!FMOD_)([A-Z][A-Z0-9_]+)'/g)].map((match) => match[1] ?? '')
}

/** Returns the code of an error that has nothing but a status. */
function codeOfStatus(status: number): string {
  return (STATUS_CODES[status] ?? '').replaceAll(' ', '_').toUpperCase()
}

/** Returns the codes that have a row in a Markdown table: the first cell, in backticks or bare. */
function documentedCodes(markdown: string): string[] {
  return [...markdown.matchAll(/^\| *`?([A-Z][A-Z0-9_]+)`?(?:<a id="\w+"><\/a>)? *\|/gm)].map(
    (match) => match[1] ?? '',
  )
}

/** Returns the names by which links lead to rows of a table: messages carry them. */
function anchors(markdown: string): string[] {
  return [...markdown.matchAll(/^\|.*<a id="(\w+)"><\/a>/gm)].map((match) => match[1] ?? '')
}

/** Returns those of the codes that no test names. */
function unprovoked(codes: readonly string[], tests: readonly string[]): string[] {
  return codes.filter((code) => !tests.some((text) => new RegExp(`\\b${code}\\b`).test(text)))
}

/** Returns those of the misuse codes of which no source makes an error. */
function unraised(codes: readonly string[], texts: readonly string[]): string[] {
  return codes.filter(
    (code) => !texts.some((text) => new RegExp(`\\bnew (?:errorCodes\\.)?${code}\\b`).test(text)),
  )
}

const sources = sourceFiles()
  .filter((path) => /^packages\/[^/]+\/src\//.test(path))
  .map(textOf)
const tests = sourceFiles()
  .filter((path) => /^packages\/[^/]+\/(?:test|src\/testing)\//.test(path))
  .map(textOf)
const misuse = sources.flatMap(misuseCodes).toSorted()
// The code of an error with nothing but a status is written nowhere; 500 is the one that every client meets.
const domain = [...new Set([...sources.flatMap(domainCodes), codeOfStatus(500)])].toSorted()

test('every error code has one row in the reference, and every row a code', (t) => {
  t.ok(misuse.length > 10 && domain.length > 5, 'codes were found')
  const documented = documentedCodes(textOf('docs/reference/error-codes.md'))
  t.same(documented.toSorted(), [...misuse, ...domain].toSorted())
  t.end()
})

test('the address in the message of a misuse code leads to its row', (t) => {
  const text = textOf('docs/reference/error-codes.md')
  t.same(
    anchors(text).toSorted(),
    misuse.map((code) => code.toLowerCase()),
  )
  for (const code of misuse) t.match(text, `| \`${code}\`<a id="${code.toLowerCase()}"></a> |`)
  t.end()
})

test('no two places define the same misuse code', (t) => {
  t.same(
    misuse.filter((code, index) => misuse.indexOf(code) !== index),
    [],
  )
  t.end()
})

test('every misuse code is raised somewhere', (t) => {
  t.same(unraised(['FMOD_A', 'FMOD_B'], ['throw new FMOD_A_B()', 'const x = new errorCodes.FMOD_B']), [
    'FMOD_A',
  ])
  t.same(unraised(misuse, sources), [])
  t.end()
})

test('every error code is provoked by some test', (t) => {
  t.same(documentedCodes('| `A_B`<a id="a_b"></a> | x |'), ['A_B'])
  t.same(anchors('| `A_B`<a id="a_b"></a> | x |'), ['a_b'])
  t.same(unprovoked([...misuse, ...domain], tests), [])
  t.end()
})

test('codes are found where they are defined, and missing ones are noticed', (t) => {
  t.same(misuseCodes("FMOD_D: 1\ncreateErrorCodes({\n  FMOD_A_B: 'x',\n  FMOD_C:\n    'y',\n})"), [
    'FMOD_A_B',
    'FMOD_C',
  ])
  t.same(domainCodes("class A extends DomainException { init = { code: 'GONE' } }"), ['GONE'])
  t.equal(codeOfStatus(500), 'INTERNAL_SERVER_ERROR')
  t.same(documentedCodes('| code | meaning |\n|---|---|\n| `A_B` | x |\n| C_D | `E_F` |'), ['A_B', 'C_D'])
  t.same(unprovoked(['FMOD_A', 'FMOD_A_B'], ["t.throws(x, { code: 'FMOD_A_B' })"]), ['FMOD_A'])
  t.end()
})
