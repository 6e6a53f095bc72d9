/** Decides whether a request target is spelled in its one canonical way, and reads its path as the router does. */

/** Longer paths are never public, in characters. */
export const maxPathLength = 1024

/**
 * The first thing that makes a path ambiguous:
 * - an empty or dot segment; a broken encoding;
 * - the encoding of a control character, or of what has a plain spelling (unreserved in RFC 3986);
 * - the encoding of `/`, `\`, `?`, `#`, `;` or `%`, which a program on the way reads as structure;
 * - a character that may not stand for itself (`pchar` of RFC 3986 without `;`, and the slash).
 */
const ambiguity = new RegExp(
  [
    String.raw`\/(?=\/)`,
    String.raw`\/\.{1,2}(?=\/|$)`,
    String.raw`%(?![\da-f]{2})`,
    String.raw`%(?:[01][\da-f]|2[35d-f]|3[\dbf]|[46][1-9a-f]|5[\dacf]|7[\daef])`,
    String.raw`[^\w.~!$&'()*+,=:@/%-]`,
  ].join('|'),
  'i',
)

/** Most paths are plain: what has nothing to look for is found in half the time. */
const plain = /^(?:\/[\w-][\w.~-]*)+\/?$/

/** Characters beyond ASCII that end lines, or stand for broken text. */
const unsafeText = /[\u0080-\u009f\u2028\u2029\ufffd]/

/**
 * The path of a request target as the router reads it, or null where the target is not canonical. That is a target with
 * - no origin-form, or more than 1024 characters;
 * - empty or dot segments, `;`, `\`, `#` or control characters;
 * - encoded separators, encoded characters that have a plain spelling, double or malformed encoding.
 * `report` gets the reason.
 *
 * Decoded once, except for the reserved `$&+,:=@`: the router distinguishes `%3A` from `:` (only the plain one matches
 * literal text of a route), so the path does, too.
 */
export function canonicalPath(target: string, report: (reason: string) => void = ignore): string | null {
  const query = target.indexOf('?')
  const path = query === -1 ? target : target.slice(0, query)
  if (!path.startsWith('/')) return refuse(report, 'it does not begin with a slash')
  if (path.length > maxPathLength)
    return refuse(report, `its path is longer than ${maxPathLength} characters`)
  if (plain.test(path)) return path
  const found = ambiguity.exec(path)
  if (found) return refuse(report, reasonOf(found[0]))
  return path.includes('%') ? decode(path, report) : path
}

/** The path with its reserved characters decoded too: what the values of parameters spell. */
export function fullyDecoded(path: string): string {
  return path.includes('%') ? decodeURIComponent(path) : path // a canonical path has no encoded percent sign
}

function reasonOf(ambiguous: string): string {
  if (ambiguous === '/') return 'it has an empty segment'
  if (ambiguous.startsWith('/')) return 'it has a dot segment'
  if (ambiguous === '%') return 'it has a broken percent-encoding'
  if (ambiguous.startsWith('%')) return `it encodes ${ambiguous}`
  return `it contains the character ${JSON.stringify(ambiguous)}`
}

function decode(path: string, report: (reason: string) => void): string | null {
  let decoded: string
  try {
    decoded = decodeURI(path)
  } catch {
    return refuse(report, 'its percent-encoding is not UTF-8')
  }
  return unsafeText.test(decoded) ? refuse(report, 'it encodes a control or replacement character') : decoded
}

function refuse(report: (reason: string) => void, reason: string): null {
  report(reason)
  return null
}

function ignore(): void {}
