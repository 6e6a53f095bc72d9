/** Patterns are JavaScript's (flag u); a few constructs are spelled alike in RE2 and mean something else there. */

/** What `\s` means in JavaScript (ECMA-262, 22.2.2.9); in RE2 it is ASCII without the vertical tab. */
const space = String.raw`\t\n\x0b\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff`
const notSpace =
  String.raw`\x00-\x08\x0e-\x1f\x21-\u009f\u00a1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e` +
  String.raw`\u2030-\u205e\u2060-\u2fff\u3001-\ufefe\uff00-\u{10ffff}`
/** What `.` means in JavaScript; in RE2 it is everything but the line feed. */
const notLineEnd = String.raw`[^\n\r\u2028\u2029]`

const token = /\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\.|[[\].]/gsu

/**
 * Spells a pattern that is valid under the flag u so that RE2 gives it the same meaning, or returns undefined where it
 * cannot. Constructs that RE2 does not know at all (lookaround, backreferences) are left for its compiler to refuse.
 */
export function toLinearSyntax(source: string): string | undefined {
  let inClass = false
  let expressible = true
  const translated = source.replace(token, (found) => {
    if (found === String.raw`\s`) return inClass ? space : `[${space}]`
    if (found === String.raw`\S`) return inClass ? notSpace : `[^${space}]`
    if (found.startsWith('\\')) {
      // Two escaped surrogates are one character here, and two that never occur there.
      if (found.length > 2) expressible = false
      return found
    }
    if (found === '.') return inClass ? found : notLineEnd
    if (found === '[' && inClass) return String.raw`\[` // or RE2 would read [[:alpha:]
    inClass = found === '['
    return found
  })
  return expressible ? translated : undefined
}
