/** Searches text for a definition's pattern so that no pattern and no text can stall the process (decision 9). */
import { createContext, Script } from 'node:vm'
import { RE2JS } from 're2js'
import { toLinearSyntax } from './pattern-syntax.ts'

/** A pattern ready to be searched, through a `PatternBudget` only. */
export interface CompiledPattern {
  readonly source: string
  /** Upper bound of the work per character of text; Infinity where the engine backtracks. */
  readonly steps: number
  search(text: string): boolean
  /** Makes the pattern usable again after a search was broken off. */
  recover(): void
}

/** The time that the patterns of one request may take, in total. */
export interface PatternBudget {
  /** Whether the pattern occurs in the text; undefined when that could not be told in the time left. */
  search(pattern: CompiledPattern, text: string): boolean | undefined
}

/** Below this much work a search ends within 3 ms (60 ns for a step at worst); a watchdog would cost more. */
const unwatchedSteps = 50_000

/**
 * Compiles a pattern in JavaScript's syntax: with the flag u, or without where u refuses it. It runs on a linear-time
 * engine if that can express it, else on V8's.
 * @throws {SyntaxError} it is no regular expression
 */
export function compilePattern(source: string): CompiledPattern {
  const unicode = compileUnicode(source)
  const linear = unicode && compileLinear(source)
  if (linear) return linear
  const backtracking = unicode ?? new RegExp(source)
  return { source, steps: Infinity, search: (text) => backtracking.test(text), recover() {} }
}

/** Whether the pattern is valid under the flag u, under which validators of JSON Schema compile it. */
export function isUnicodePattern(source: string): boolean {
  return compileUnicode(source) !== undefined
}

/**
 * Creates the budget of one request. A search whose work exceeds it is broken off, and every later one fails at once.
 * @param limit milliseconds of searching @default 50
 */
export function createPatternBudget(limit = 50): PatternBudget {
  let left = limit
  const timed = (pattern: CompiledPattern, text: string): boolean => {
    const start = performance.now()
    try {
      return pattern.search(text)
    } finally {
      left -= performance.now() - start
    }
  }
  return {
    search(pattern, text) {
      if (left <= 0) return undefined
      if (pattern.steps * text.length <= unwatchedSteps) return timed(pattern, text)
      while (left > 0) {
        const before = process.cpuUsage()
        try {
          // The watchdog takes longer to start than most searches: only the search itself is charged.
          return underWatchdog(() => timed(pattern, text), Math.ceil(left))
        } catch (error) {
          if (!isBrokenOff(error)) throw error
          pattern.recover()
          // On a busy machine the time may pass without any work: what was not used is tried again, a few times.
          left -= error instanceof RangeError ? left : Math.max(millisecondsSince(before), limit / 10)
        }
      }
      return undefined
    },
  }
}

/** Milliseconds of work of this process. */
function millisecondsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
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
    let engine = RE2JS.compile(translated)
    return {
      source,
      steps: engine.programSize(),
      search: (text) => engine.test(text),
      recover() {
        engine = RE2JS.compile(translated) // a search that was broken off leaves half-built states behind
      },
    }
  } catch {
    return undefined // lookaround, backreferences, script names: V8 knows them
  }
}

let watchdog: ((task: () => boolean, timeout: number) => boolean) | undefined

/** Runs a task on this thread and breaks it off after a time, in milliseconds; about 0.1 ms to start. */
function underWatchdog(task: () => boolean, timeout: number): boolean {
  watchdog ??= createWatchdog()
  return watchdog(task, timeout)
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

/** Broken off by the watchdog (whose error belongs to another realm), or by V8 when backtracking used up its stack. */
function isBrokenOff(error: unknown): boolean {
  if (error instanceof RangeError) return true
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  )
}
