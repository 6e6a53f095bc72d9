/** Decides whether a request target is spelled in its one canonical way, and reads its path as the router does. */

/** Longer paths are never public, in characters. */
export const maxPathLength = 1024

const slash = 0x2f
const percent = 0x25
const unreserved = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~'

/** What may stand for itself: `pchar` of RFC 3986 without `;`, and the slash. */
const plain = tableOf(`${unreserved}!$&'()*+,=:@/`)

/** What makes a target ambiguous when encoded: it has a plain spelling, or a program on the way reads it as structure. */
const neverEncoded = tableOf(`${unreserved}/\\?#;%`)

/** Characters beyond ASCII that end lines, or stand for broken text. */
const unsafeText = /[\u0080-\u009f\u2028\u2029\ufffd]/

/**
 * The path of a request target as the router reads it, or null where the target is not canonical: not origin-form,
 * empty or dot segments, `;`, `\`, `#`, control characters, encoded separators, encoded characters that have a plain
 * spelling, double or malformed encoding, more than 1024 characters. `report` gets the reason.
 *
 * Decoded once, except for the reserved `$&+,:=@`: the router distinguishes `%3A` from `:` (only the plain one matches
 * literal text of a route), so the path does, too.
 */
export function canonicalPath(target: string, report: (reason: string) => void = ignore): string | null {
  const query = target.indexOf('?')
  const end = query === -1 ? target.length : query
  if (target.charCodeAt(0) !== slash) return refuse(report, 'it does not begin with a slash')
  if (end > maxPathLength) return refuse(report, `its path is longer than ${maxPathLength} characters`)

  let segment = 1 // where the current segment begins
  let isEncoded = false
  for (let at = 1; at < end; at++) {
    const code = target.charCodeAt(at)
    if (code === slash) {
      if (at === segment) return refuse(report, 'it has an empty segment')
      if (isDots(target, segment, at)) return refuse(report, 'it has a dot segment')
      segment = at + 1
    } else if (code === percent) {
      const octet = octetAt(target, at)
      if (octet === -1) return refuse(report, 'it has a broken percent-encoding')
      if (isNeverEncoded(octet)) return refuse(report, `it encodes ${target.slice(at, at + 3)}`)
      isEncoded = true
      at += 2
    } else if (plain[code] !== 1) {
      return refuse(report, `it contains the character ${JSON.stringify(target.charAt(at))}`)
    }
  }
  if (isDots(target, segment, end)) return refuse(report, 'it has a dot segment')

  const path = end === target.length ? target : target.slice(0, end)
  return isEncoded ? decode(path, report) : path
}

/** The path with its reserved characters decoded too: what the values of parameters spell. */
export function fullyDecoded(path: string): string {
  return path.includes('%') ? decodeURIComponent(path) : path // a canonical path has no encoded percent sign
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

function isNeverEncoded(octet: number): boolean {
  return octet < 0x20 || octet === 0x7f || neverEncoded[octet] === 1
}

function isDots(target: string, from: number, to: number): boolean {
  const length = to - from
  return (length === 1 && target[from] === '.') || (length === 2 && target.startsWith('..', from))
}

/** The octet that `%XX` at this index encodes, -1 where the digits are wrong. */
function octetAt(target: string, at: number): number {
  const high = hexValue(target.charCodeAt(at + 1))
  const low = hexValue(target.charCodeAt(at + 2))
  return high === -1 || low === -1 ? -1 : high * 16 + low
}

function hexValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256)
  for (const character of characters) table[character.charCodeAt(0)] = 1
  return table
}

function refuse(report: (reason: string) => void, reason: string): null {
  report(reason)
  return null
}

function ignore(): void {}
