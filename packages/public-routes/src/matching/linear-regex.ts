/** Regular expressions that cannot stall the process: they take linear time, and are anchored at the start. */
import { maxPathLength } from '@fastify-modular/core/internal'
import { RE2JS } from 're2js'
import { errorCodes } from '../misuse-errors.ts'
import { anySegment, type Matcher, type Segments, someSegment } from './route-pattern.ts'

/**
 * Engine steps that one match may cost at most, about 0.3 ms: steps are the size of the compiled expression times
 * the length of the path, so a large expression looks at shorter paths only.
 */
const stepsPerMatch = 40_000

/** Longer expressions, in characters, are not for V8: it refuses very long ones, and only when they first match. */
const maxSource = 8 * maxPathLength

/** A compiled expression. It has segments if it ends with `$` and consists of whole ones alone. */
interface LinearRegex extends Matcher {
  /** Paths longer than this never match, in characters; Infinity where V8 runs the expression. */
  readonly maxLength: number
}

/**
 * Compiles a string or RegExp, which matches at the start of a path; more text may follow unless it ends with `$` (S 5.5). It must be valid both as a Unicode-mode JavaScript expression and for the linear-time
 * engine, so that an escape that one of them reads otherwise (`\Z`, `\Q`) is refused instead of meaning something else.
 * @throws {FMOD_PUBLIC_ROUTES_INVALID_RULE} syntax error, flags other than i, s, u, d, lookaround or backreference
 */
export function compileLinearRegex(pattern: string | RegExp): LinearRegex {
  const source = typeof pattern === 'string' ? pattern : pattern.source
  const flags = typeof pattern === 'string' ? '' : pattern.flags
  const refuse = (reason: string) =>
    new errorCodes.FMOD_PUBLIC_ROUTES_INVALID_RULE(JSON.stringify(source), reason)

  if (source === '' || source === '(?:)') throw refuse('it is empty and would open every path')
  if (/[^isud]/.test(flags)) {
    throw refuse(`the flags "${flags}" change where it may match; only i, s, u and d are possible`)
  }
  const literal = flags.includes('i') ? '' : literalHeadOf(source)
  if (source.length <= maxSource && wholeSegments.test(source) && !/[is]/.test(flags)) {
    const compiled = new RegExp(`^(?:${source})`, 'u')
    return {
      literal,
      segments: segmentsOfExpression(source),
      maxLength: Infinity,
      matchesPath: (path) => compiled.test(path),
    }
  }
  const compiled = compile(source, flags, refuse)
  const maxLength = Math.floor(stepsPerMatch / compiled.programSize())
  return {
    literal,
    segments: null,
    maxLength,
    matchesPath: (path) => path.length <= maxLength && compiled.test(path),
  }
}

/**
 * Literal text and `[^/]+` up to a slash or the end, as in `/api/items/[^/]+/share$`: most rules. Nothing in it can
 * match in two ways, so that V8 takes linear time, too: a twentieth of the engine's (bench/gate.mjs), without the
 * engine's compilation, which took a fifth of a large boot (bench/boot.mjs).
 */
const wholeSegments = /^\^?(?:[\w\-/~!@%&=:;,'"<> ]|\\[/.]|\[\^\\?\/\]\+(?=\\?\/|\$?$))*\$?$/

/** Null for an expression with a percent sign, because the router decodes what follows it. */
function segmentsOfExpression(source: string): Segments | null {
  if (!source.endsWith('$') || source.includes('%')) return null
  const wild = '\0'
  return source
    .replace(/^\^/, '')
    .replace(/\$$/, '')
    .replace(/\[\^\\?\/\]\+/g, wild)
    .replaceAll('\\', '')
    .split('/')
    .map((segment) => (segment === wild ? anySegment : segment.includes(wild) ? someSegment : segment))
}

function compile(source: string, flags: string, refuse: (reason: string) => Error): RE2JS {
  try {
    void new RegExp(source, 'u')
  } catch (err) {
    throw refuse(reasonOf(err))
  }
  try {
    // The group anchors every alternative: `a|b` means `^(?:a|b)`, as Python's re.match does.
    const options =
      (flags.includes('i') ? RE2JS.CASE_INSENSITIVE : 0) | (flags.includes('s') ? RE2JS.DOTALL : 0)
    return RE2JS.compile(`^(?:${RE2JS.translateRegExp(source)})`, options)
  } catch (err) {
    throw refuse(
      `${reasonOf(err)} (the linear-time engine has no lookaround and no backreferences; say it without them, or use addExact)`,
    )
  }
}

function reasonOf(err: unknown): string {
  return err instanceof Error ? err.message : String(err)
}

/**
 * The literal text with which an expression begins. It errs on the safe side: the first character that may not be literal
 * ends it, and a quantifier removes the character before it.
 */
function literalHeadOf(source: string): string {
  if (source.includes('|')) return ''
  const text = source.startsWith('^') ? source.slice(1) : source
  const plain = /^(?:[\w\-/~!@%&=:;,'"<> ]|\\[/.])*/.exec(text)?.[0] ?? ''
  const isOptional = /^[?*{]/.test(text.slice(plain.length))
  const certain = isOptional ? plain.replace(/\\?.$/, '') : plain
  return certain.replaceAll('\\', '')
}
