/** Which errors of others become which problems. Encapsulated like Fastify's hooks. */
import { type DomainException, isDomainException } from '@fastify-modular/core'
import { FMOD_CORE_ADDED_LATE } from '@fastify-modular/core/internal'
import {
  allowedHeaders,
  isErrorStatus,
  type Problem,
  type ProblemLogLevel,
  problemOfError,
  problemOfStatus,
  problemType,
} from '@fastify-modular/core/problem'
import { errorCodes } from './misuse-errors.ts'

/** Which errors a mapping is for: a class with its subclasses, or those that a predicate recognises. */
export type ErrorMatch<E> =
  | (abstract new (...args: never[]) => E)
  | ((error: unknown) => error is E)
  | ((error: unknown) => boolean)

/** What the errors of a mapping become. */
export interface ProblemMapping<E> {
  /** Returns what an error means: another exception, or a problem; undefined leaves it to the next mapping. */
  readonly to: (error: E) => DomainException | MappedProblem | undefined
  /** @default by status: 5xx error, 403 and 409 info, other 4xx debug */
  readonly logLevel?: ProblemLogLevel
}

type ErrorMapping = (error: unknown) => Problem | undefined

interface PredicateMapping {
  readonly matches: (error: unknown) => boolean
  readonly toProblem: ErrorMapping
}

/** What a registry is made with. */
export interface ProblemsContext {
  readonly typeBase: string
  /** Called when a mapper or predicate throws or returns something unusable; the error is then treated as if it had no mapping. */
  readonly onBadMapper?: (err: unknown) => void
}

/** The decorator `app.problems`. A plugin's own mappings hold for its scope and the scopes below. */
export class Problems {
  readonly #context: ProblemsContext
  /** This scope, then those above it. */
  readonly #lineage: readonly Problems[]
  readonly #classes = new Map<unknown, ErrorMapping>()
  readonly #predicates: PredicateMapping[] = []
  #isClosed = false

  constructor(context: ProblemsContext, parent?: Problems) {
    this.#context = context
    this.#lineage = parent ? [this, ...parent.#lineage] : [this]
  }

  /** What stands in front of the codes in types: the option `typeBase`. */
  get typeBase(): string {
    return this.#context.typeBase
  }

  /**
   * Answers errors of a class, or those that a predicate recognises:
   * `map(PaymentError, { to: (error) => new OutOfCredit('No credit is left.', { balance: error.balance }) })`. The nearest
   * class of an error decides; then predicates, the newest first; a scope before those above it.
   * @throws {FMOD_ERRORS_INVALID_MAPPING} an argument has the wrong type
   * @throws {FMOD_CORE_ADDED_LATE} the application is ready
   */
  map<E>(match: ErrorMatch<E>, mapping: ProblemMapping<E>): this {
    if (this.#isClosed)
      throw new FMOD_CORE_ADDED_LATE('A mapping by app.problems.map', 'mappings while plugins register')
    checkMapping(match, mapping)
    const toProblem = this.#toProblem(mapping) as ErrorMapping // it meets only errors that `match` recognises
    if (isErrorClass(match)) this.#classes.set(match.prototype, toProblem)
    else this.#predicates.unshift({ matches: match as (error: unknown) => boolean, toProblem })
    return this
  }

  /** The problem that a mapping makes of an error, or undefined. Never throws. */
  resolve(error: unknown): Problem | undefined {
    return this.#byClass(error) ?? this.#byPredicate(error)
  }

  /** A registry for a scope below this one. */
  child(): Problems {
    return new Problems(this.#context, this)
  }

  /** Refuses further mappings in this scope. */
  close(): void {
    this.#isClosed = true
  }

  #byClass(error: unknown): Problem | undefined {
    if (typeof error !== 'object' || error === null) return undefined
    if (this.#lineage.every((scope) => scope.#classes.size === 0)) return undefined
    try {
      for (let type = Object.getPrototypeOf(error) as unknown; type; type = Object.getPrototypeOf(type)) {
        for (const scope of this.#lineage) {
          const problem = scope.#classes.get(type)?.(error)
          if (problem) return problem
        }
      }
    } catch (err) {
      this.#context.onBadMapper?.(err)
    }
    return undefined
  }

  #byPredicate(error: unknown): Problem | undefined {
    for (const scope of this.#lineage) {
      for (const mapping of scope.#predicates) {
        const problem = this.#applied(mapping, error)
        if (problem) return problem
      }
    }
    return undefined
  }

  #applied({ matches, toProblem }: PredicateMapping, error: unknown): Problem | undefined {
    try {
      return matches(error) ? toProblem(error) : undefined
    } catch (err) {
      this.#context.onBadMapper?.(err)
      return undefined
    }
  }

  #toProblem<E>({ to, logLevel }: ProblemMapping<E>): (error: E) => Problem | undefined {
    const level = logLevel === undefined ? {} : { logLevel }
    return (error) => {
      const mapped = to(error)
      return mapped && { ...fromMapper(mapped, this.typeBase), ...level }
    }
  }
}

/** @throws {FMOD_ERRORS_INVALID_MAPPING} an argument has the wrong type */
function checkMapping(match: unknown, { to }: { readonly to: unknown }): void {
  if (typeof match !== 'function')
    throw new errorCodes.FMOD_ERRORS_INVALID_MAPPING('a class or predicate', typeof match)
  if (typeof to !== 'function')
    throw new errorCodes.FMOD_ERRORS_INVALID_MAPPING('a function as "to"', typeof to)
}

/** Distinguishes classes from predicates: both are functions, and only classes have a prototype that cannot be assigned. */
function isErrorClass(match: ErrorMatch<unknown>): boolean {
  const { value, writable } = Object.getOwnPropertyDescriptor(match, 'prototype') ?? {}
  return writable === false || value instanceof Error
}

/** A problem put together by a mapper. What it leaves out follows from the status. */
export interface MappedProblem {
  /** 400–599. */
  readonly status: number
  /** Absolute URI. @default made of the code, or `about:blank` without one */
  readonly type?: string
  /** Ignored for `about:blank`, which is titled by the phrase of its status (RFC 9457, 4.2.1). */
  readonly title?: string
  /** For the caller; a 5xx always has the constant text. */
  readonly detail?: string
  readonly code?: string
  readonly extensions?: Readonly<Record<string, unknown>>
  /** Those of `www-authenticate`, `retry-after`, `allow`, `accept*` and `ratelimit*` are sent. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The mapper's answer as a whole problem.
 * @throws {TypeError} it names no error status
 */
function fromMapper(mapped: MappedProblem | DomainException, typeBase: string): Problem {
  if (isDomainException(mapped)) return problemOfError(mapped, { typeBase })
  const { status, code, extensions } = mapped
  if (!isErrorStatus(status)) throw new TypeError('A problem mapper must return a status from 400 to 599')
  const plain = problemOfStatus(status)
  const type = mapped.type ?? (code === undefined ? plain.type : problemType(code, typeBase))
  const headers = allowedHeaders(mapped.headers)
  return {
    type,
    title: type === plain.type ? plain.title : (mapped.title ?? plain.title),
    status,
    detail: status < 500 && mapped.detail !== undefined ? mapped.detail : plain.detail,
    code: code ?? plain.code,
    ...(extensions && { extensions }),
    ...(headers && { headers }),
  }
}
