/** Error codes are API: each is written down and each is provoked by a test. */
import { STATUS_CODES } from 'node:http'

/** Returns the misuse codes (`FMOD_…`) that a source file defines by `createMisuseError`. */
export function misuseCodes(text: string): string[] {
  return [...text.matchAll(/createMisuseError(?:<[^>]*>)?\(\s*'(FMOD_[A-Z0-9_]+)'/g)].map(
    (match) => match[1] ?? '',
  )
}

/** Returns the domain codes (`NOT_FOUND`, …) that a source file writes down: of exceptions, problems and clients. */
export function domainCodes(text: string): string[] {
  return [...text.matchAll(/\bcode: '(?!FMOD_)([A-Z][A-Z0-9_]+)'/g)].map((match) => match[1] ?? '')
}

/** Returns the code of an error that has nothing but a status. */
export function codeOfStatus(status: number): string {
  return (STATUS_CODES[status] ?? '').replaceAll(' ', '_').toUpperCase()
}

/** Returns the codes that have a row in a Markdown table: the first cell, in backticks or bare. */
export function documentedCodes(markdown: string): string[] {
  return [...markdown.matchAll(/^\| *`?([A-Z][A-Z0-9_]+)`?(?:<a id="\w+"><\/a>)? *\|/gm)].map(
    (match) => match[1] ?? '',
  )
}

/** Returns the names by which links lead to rows of a table: messages carry them. */
export function anchors(markdown: string): string[] {
  return [...markdown.matchAll(/^\|.*<a id="(\w+)"><\/a>/gm)].map((match) => match[1] ?? '')
}

/** Returns those of the codes that no test names. */
export function unprovoked(codes: readonly string[], tests: readonly string[]): string[] {
  return codes.filter((code) => !tests.some((text) => new RegExp(`\\b${code}\\b`).test(text)))
}
