/**
 * Matches text with RE2, whose time grows with the program of the pattern and the length of the text only, so that no
 * pattern and no text can stall the process.
 */
import { RE2JS } from 're2js'

/** A pattern ready to be searched. */
export interface CompiledPattern {
  /** Of its program: an upper bound of the work for each UTF-16 unit of text. */
  readonly steps: number
  /** The longest text that may be searched, in UTF-16 units. */
  readonly maxLength: number
  search(text: string): boolean
}

/** Searches the texts of one write. */
export interface PatternBudget {
  /**
   * Whether the pattern occurs in the text; undefined when the texts of this write would take more steps than one write
   * may. The same text is not searched twice.
   */
  search(pattern: CompiledPattern, text: string): boolean | undefined
}

/** The longest program; a step takes 10 to 50 ns. */
const maxProgram = 2000
const stepsPerValue = 4_000_000
const stepsPerWrite = 20_000_000

/**
 * Compiles a pattern in JavaScript's syntax with the flag u.
 * @throws {SyntaxError} the engine cannot match it; the message names the fix
 */
export function compilePattern(source: string): CompiledPattern {
  const engine = compile(source)
  const steps = engine.programSize()
  if (steps > maxProgram)
    throw new SyntaxError(
      `compiles to ${steps} steps, more than ${maxProgram}: shorten its alternatives and repetitions`,
    )
  const maxLength = Math.floor(stepsPerValue / steps)
  return { steps, maxLength, search: (text) => engine.test(text) }
}

/** Creates the budget of one write: a single value always fits into it. */
export function createPatternBudget(): PatternBudget {
  const answers = new Map<CompiledPattern, Map<string, boolean>>()
  let left = stepsPerWrite
  return {
    search(pattern, text) {
      const known = answers.get(pattern) ?? new Map<string, boolean>()
      const answer = known.get(text)
      if (answer !== undefined) return answer
      const steps = pattern.steps * text.length
      if (steps > left) return undefined
      left -= steps
      const found = pattern.search(text)
      answers.set(pattern, known.set(text, found))
      return found
    },
  }
}

function compile(source: string): RE2JS {
  let expression: RegExp
  try {
    expression = new RegExp(source, 'u')
  } catch (error) {
    throw new SyntaxError(`is not a regular expression with the flag u: ${fixOfSyntax(source, error)}`)
  }
  const linear = toLinearSyntax(expression.source)
  try {
    return RE2JS.compile(RE2JS.translateRegExp(linear))
  } catch (error) {
    throw new SyntaxError(fixOfEngine(source, error))
  }
}

const refersBack = 'refers back to a group, which takes too long on some texts: use validate'

/** What may be escaped under the flag u; a hyphen in a class only. */
const escapable = /[\^$.*+?()[\]{}|/\\dDsSwWbBfnrtvcxukpP0-9]/

function fixOfSyntax(source: string, error: unknown): string {
  let inClass = false
  for (const [found] of source.matchAll(token)) {
    const escaped = found.startsWith('\\') ? found.slice(1) : ''
    if (escaped === '') inClass = found === '[' || (inClass && found !== ']')
    else if (!escapable.test(escaped) && !(inClass && escaped === '-'))
      return `remove the backslash before "${escaped}"`
  }
  const reason = error instanceof Error ? error.message.slice(error.message.lastIndexOf(': ') + 2) : ''
  return `correct it (${reason})`
}

function fixOfEngine(source: string, error: unknown): string {
  const groups = source.replace(/\\[^1-9k]|\[(?:\\.|[^\]\\])*\]/gsu, '')
  if (/\(\?<?[=!]/.test(groups))
    return 'looks ahead or behind, which takes too long on some texts: use maxLength for the length, or validate'
  if (/\\[1-9]/.test(groups)) return refersBack
  const reason = error instanceof Error ? error.message.slice(error.message.indexOf(': ') + 2) : ''
  return `has syntax that RE2 refuses (${reason.replaceAll('`', '')}): write it in another way, or use validate`
}

/** What `\s` means in JavaScript (ECMA-262, 22.2.2.9); in RE2 it is ASCII without the vertical tab. */
const space = String.raw`\t\n\x0b\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff`
const notSpace =
  String.raw`\x00-\x08\x0e-\x1f\x21-\u009f\u00a1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e` +
  String.raw`\u2030-\u205e\u2060-\u2fff\u3001-\ufefe\uff00-\u{10ffff}`
/** What `.` means in JavaScript; in RE2 it is everything but the line feed. */
const notLineEnd = String.raw`[^\n\r\u2028\u2029]`

const token = /\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\.|[[\].]/gsu

/**
 * Spells a pattern that is valid under the flag u so that RE2 gives it the same meaning. What RE2 does not know at all
 * (lookaround, back-references) is left for its compiler to refuse.
 * @throws {SyntaxError} RE2 would give it another meaning
 */
function toLinearSyntax(source: string): string {
  let inClass = false
  return source.replace(token, (found) => {
    if (found === String.raw`\s`) return inClass ? space : `[${space}]`
    if (found === String.raw`\S`) return inClass ? notSpace : `[^${space}]`
    // Two halves of a surrogate pair are one character here; \k is a k there.
    if (found === String.raw`\k`) throw new SyntaxError(refersBack)
    if (found.length > 2)
      throw new SyntaxError('has two halves of a character: write the character itself, or \\u{…}')
    if (found.startsWith('\\')) return found
    if (found === '.') return inClass ? found : notLineEnd
    if (found === '[' && inClass) return String.raw`\[` // or RE2 would read [[:alpha:]
    inClass = found === '['
    return found
  })
}
