/** Searches text for a definition's pattern so that no pattern and no text can stall the process (decisions 9 and 57). */
import { createContext, Script } from 'node:vm'
import { RE2JS } from 're2js'

/** A pattern ready to be searched, through a `PatternBudget` only. */
export interface CompiledPattern {
  readonly source: string
  /** Upper bound of the steps per UTF-16 unit of text; Infinity where the engine backtracks. */
  readonly steps: number
  search(text: string): boolean
}

/** The work that the patterns of one request may do, in total. */
export interface PatternBudget {
  /**
   * Whether the pattern occurs in the text; undefined when the search would cost more than is left. A second search of
   * the same text for the same pattern returns the same at no cost.
   */
  search(pattern: CompiledPattern, text: string): boolean | undefined
}

/** A pattern of more steps is refused with its definition (decision 57). */
export const maxSteps = 10_000
/** Steps, so that the load of the machine decides nothing: one takes 10 to 50 ns. */
const stepsPerValue = 50_000_000
const stepsPerRequest = 200_000_000
/** After so many interrupted searches a value is refused, even if they used little processor time. */
const maxAttempts = 40
/** Milliseconds; less would interrupt searches that have only begun. */
const shortestAttempt = 10

/**
 * Compiles a pattern in JavaScript's syntax: with the flag u, or without where u refuses it. It runs on a linear-time
 * engine if that can express it, else on V8's.
 * @throws {SyntaxError} the source is not a regular expression
 */
export function compilePattern(source: string): CompiledPattern {
  const unicode = compileUnicode(source)
  const linear = unicode && compileLinear(source)
  if (linear) return linear
  const backtracking = unicode ?? new RegExp(source)
  return { source, steps: Infinity, search: (text) => backtracking.test(text) }
}

/** Whether the pattern is valid under the flag u, under which validators of JSON Schema compile it. */
export function isUnicodePattern(source: string): boolean {
  return compileUnicode(source) !== undefined
}

/**
 * Creates the budget of one request. Linear patterns are charged by their steps before they run. Those that backtrack
 * cannot be: they run under a watchdog and are charged by the processor time that they used.
 * @param limit milliseconds of processor time for the patterns that backtrack @default 50
 */
export function createPatternBudget(limit = 50): PatternBudget {
  const answers = new Map<CompiledPattern, Map<string, boolean | undefined>>()
  let stepsLeft = stepsPerRequest
  let timeLeft = limit

  function searchLinear(pattern: CompiledPattern, text: string): boolean | undefined {
    const steps = pattern.steps * text.length
    if (steps > stepsPerValue || steps > stepsLeft) return undefined
    stepsLeft -= steps
    return pattern.search(text)
  }

  /** The watchdog counts wall time: where the machine let the process wait instead, the search starts again. */
  function searchBacktracking(pattern: CompiledPattern, text: string): boolean | undefined {
    for (let attempt = 0; attempt < maxAttempts && timeLeft > 0; attempt++) {
      // The watchdog takes longer to start and to end than most searches: only the search itself is charged.
      let start: number | undefined
      let end: number | undefined
      function task(): boolean {
        start = processorTime()
        const isFound = pattern.search(text)
        end = processorTime()
        return isFound
      }
      const found = underWatchdog(task, Math.max(Math.ceil(timeLeft), shortestAttempt))
      if (start !== undefined) timeLeft -= (end ?? processorTime()) - start
      if (found === 'exhausted') return undefined
      if (found !== 'interrupted') return found
    }
    return undefined
  }

  return {
    search(pattern, text) {
      const known = answers.get(pattern) ?? new Map<string, boolean | undefined>()
      if (known.has(text)) return known.get(text)
      const found =
        pattern.steps === Infinity ? searchBacktracking(pattern, text) : searchLinear(pattern, text)
      answers.set(pattern, known.set(text, found))
      return found
    },
  }
}

/** Milliseconds that this thread has worked; on an older Node those of the process, with its other threads. */
function processorTime(): number {
  const { user, system } = hasThreadClock(process) ? process.threadCpuUsage() : process.cpuUsage()
  return (user + system) / 1000
}

function hasThreadClock(
  clocks: NodeJS.Process,
): clocks is NodeJS.Process & { threadCpuUsage(): NodeJS.CpuUsage } {
  return 'threadCpuUsage' in clocks && typeof clocks.threadCpuUsage === 'function'
}

function compileUnicode(source: string): RegExp | undefined {
  try {
    return new RegExp(source, 'u')
  } catch {
    return undefined
  }
}

function compileLinear(source: string): CompiledPattern | undefined {
  const syntax = toLinearSyntax(source)
  if (syntax === undefined) return undefined
  try {
    const translated = RE2JS.translateRegExp(syntax)
    const engine = RE2JS.compile(translated)
    return { source, steps: engine.programSize(), search: (text) => engine.test(text) }
  } catch {
    return undefined // lookaround, backreferences, script names: V8 knows them
  }
}

/** `interrupted` by the watchdog, `exhausted` the stack of V8's engine. */
type Ending = boolean | 'interrupted' | 'exhausted'

let watchdog: ((task: () => boolean, timeout: number) => boolean) | undefined

/** Runs a task on this thread and interrupts it after a time, in milliseconds; takes about 0.1 ms to start. */
function underWatchdog(task: () => boolean, timeout: number): Ending {
  watchdog ??= createWatchdog()
  try {
    return watchdog(task, timeout)
  } catch (error) {
    if (error instanceof RangeError) return 'exhausted'
    if (isTimeout(error)) return 'interrupted'
    throw error
  }
}

function createWatchdog(): (task: () => boolean, timeout: number) => boolean {
  const scope: { task: (() => boolean) | null } = { task: null }
  const context = createContext(scope)
  const script = new Script('task()')
  return (task, timeout) => {
    scope.task = task
    try {
      return script.runInContext(context, { timeout }) === true
    } finally {
      scope.task = null
    }
  }
}

/** The error of the watchdog belongs to another realm. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  )
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
 * Spells a pattern that is valid under the flag u so that RE2 gives it the same meaning, or returns undefined where it
 * cannot. Constructs that RE2 does not know at all (lookaround, backreferences) are left for its compiler to refuse.
 */
function toLinearSyntax(source: string): string | undefined {
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
