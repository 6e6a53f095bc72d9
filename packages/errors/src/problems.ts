/** An application's own problems: what they are called, and which errors become them. Encapsulated like Fastify's hooks. */
import { type DomainException, isDomainException } from '@fastify-modular/core'
import {
  allowedHeaders,
  isErrorStatus,
  type Problem,
  type ProblemLogLevel,
  problemOfError,
  problemOfStatus,
  problemType,
  statusMessage,
} from '@fastify-modular/core/problem'
import {
  FMOD_ERRORS_CLOSED,
  FMOD_ERRORS_DUPLICATE_PROBLEM,
  FMOD_ERRORS_INVALID_MAPPING,
  FMOD_ERRORS_INVALID_PROBLEM,
  FMOD_ERRORS_UNKNOWN_PROBLEM,
} from './misuse-errors.ts'

/** Which errors a mapping is for: a class with its subclasses, or those that a predicate recognises. */
export type ErrorMatch<E> =
  | (abstract new (...args: never[]) => E)
  | ((error: unknown) => error is E)
  | ((error: unknown) => boolean)

/** What the errors of a mapping become. */
export interface ProblemMapping<E, S extends ProblemSlug> {
  /**
   * The slug of a defined problem, or a function that returns a problem or another exception; where it returns undefined,
   * the next mapping is tried.
   */
  readonly to: S | ProblemMapper<E>
  /** The extensions of the problem that `to` names. */
  readonly extensions?: (error: E) => ProblemTypes[S]
  /** @default by status: 5xx error, 403 and 409 info, other 4xx debug */
  readonly logLevel?: ProblemLogLevel
}

type ErrorMapping = (error: unknown) => Problem | undefined

interface PredicateMapping {
  readonly matches: (error: unknown) => boolean
  readonly toProblem: ErrorMapping
}

/** The mappings of a scope and those above it. */
interface Gathered {
  readonly classes: readonly ReadonlyMap<unknown, ErrorMapping>[]
  readonly predicates: readonly PredicateMapping[]
}

/** What a registry is made with. */
export interface ProblemsContext {
  readonly typeBase: string
  /** Called when a mapper or predicate throws or returns something unusable; the error is then treated as if it had no mapping. */
  readonly onBadMapper?: (err: unknown) => void
}

/** The decorator `app.problems`. A plugin's own definitions and mappings hold for its scope and the scopes below. */
export class Problems {
  readonly #context: ProblemsContext
  /** This scope, then those above it. */
  readonly #lineage: readonly Problems[]
  readonly #definitions = new Map<string, ProblemDefinition>()
  readonly #classes = new Map<unknown, ErrorMapping>()
  readonly #predicates: PredicateMapping[] = []
  #gathered: Gathered | undefined
  #isClosed = false

  constructor(context: ProblemsContext, parent?: Problems) {
    this.#context = context
    this.#lineage = parent ? [this, ...parent.#lineage] : [this]
  }

  /** What stands in front of the slugs of types: the option `typeBase`. */
  get typeBase(): string {
    return this.#context.typeBase
  }

  /**
   * Names a problem, so that `map` and `reply.problem` can use it. Its type is the type base and the slug.
   * @throws {FMOD_ERRORS_INVALID_PROBLEM} the slug is not kebab-case, the status not 400–599, or the title empty
   * @throws {FMOD_ERRORS_DUPLICATE_PROBLEM} the slug is defined in this scope or one above
   */
  define<S extends ProblemSlug>(slug: S, definition: ProblemDefinition<ProblemTypes[S]>): this {
    this.#assertOpen('define')
    checkDefinition(slug, definition)
    if (this.#find(slug)) throw new FMOD_ERRORS_DUPLICATE_PROBLEM(slug)
    this.#definitions.set(slug, definition as ProblemDefinition) // parsed by its slug: it meets only its own extensions
    return this
  }

  /**
   * Answers errors of a class, or those that a predicate recognises:
   * `map(PaymentError, { to: 'out-of-credit', extensions: (error) => ({ balance: error.balance }) })`. The nearest class of an
   * error decides; then predicates, the newest first; a scope before those above it.
   * @throws {FMOD_ERRORS_UNKNOWN_PROBLEM} the slug is not defined
   * @throws {FMOD_ERRORS_INVALID_MAPPING} an argument has the wrong type
   */
  map<E, S extends ProblemSlug>(match: ErrorMatch<E>, mapping: ProblemMapping<E, S>): this {
    this.#assertOpen('map')
    checkMapping(match, mapping)
    const toProblem = this.#toProblem(mapping) as ErrorMapping // it meets only errors that `match` recognises
    if (isErrorClass(match)) this.#classes.set(match.prototype, toProblem)
    else this.#predicates.unshift({ matches: match as (error: unknown) => boolean, toProblem })
    return this
  }

  /** The problem of a slug, as `reply.problem` answers it. @throws {FMOD_ERRORS_UNKNOWN_PROBLEM} it is not defined */
  describe(slug: string, extensions: Readonly<Record<string, unknown>> = {}): Problem {
    return fromDefinition({ slug, definition: this.definition(slug), extensions, typeBase: this.typeBase })
  }

  /** What a slug was defined as. @throws {FMOD_ERRORS_UNKNOWN_PROBLEM} it is not defined */
  definition(slug: string): ProblemDefinition {
    const definition = this.#find(slug)
    if (!definition) throw new FMOD_ERRORS_UNKNOWN_PROBLEM(slug)
    return definition
  }

  /** The problem that a mapping makes of an error, or undefined. Never throws. */
  resolve(error: unknown): Problem | undefined {
    const { classes, predicates } = this.#gather()
    return this.#byClass(error, classes) ?? this.#byPredicate(error, predicates)
  }

  /** A registry for a scope below this one. */
  child(): Problems {
    return new Problems(this.#context, this)
  }

  /** Refuses further definitions and mappings in this scope. */
  close(): void {
    this.#isClosed = true
  }

  /** Kept once the scopes are closed: an error is answered without looking for mappings that are not there. */
  #gather(): Gathered {
    if (this.#gathered) return this.#gathered
    const classes = this.#lineage.map((scope) => scope.#classes).filter(({ size }) => size > 0)
    const gathered = { classes, predicates: this.#lineage.flatMap((scope) => scope.#predicates) }
    if (this.#isClosed) this.#gathered = gathered
    return gathered
  }

  #byClass(error: unknown, classes: Gathered['classes']): Problem | undefined {
    if (classes.length === 0 || typeof error !== 'object' || error === null) return undefined
    try {
      for (let type = Object.getPrototypeOf(error) as unknown; type; type = Object.getPrototypeOf(type)) {
        const problem = firstOf(classes, (mappings) => mappings.get(type)?.(error))
        if (problem) return problem
      }
    } catch (err) {
      this.#context.onBadMapper?.(err)
    }
    return undefined
  }

  #byPredicate(error: unknown, predicates: Gathered['predicates']): Problem | undefined {
    return firstOf(predicates, ({ matches, toProblem }) => {
      try {
        return matches(error) ? toProblem(error) : undefined
      } catch (err) {
        this.#context.onBadMapper?.(err)
        return undefined
      }
    })
  }

  #toProblem<E, S extends ProblemSlug>({
    to,
    extensions,
    logLevel,
  }: ProblemMapping<E, S>): (error: E) => Problem | undefined {
    const level = logLevel === undefined ? {} : { logLevel }
    if (typeof to === 'function') {
      return (error) => {
        const mapped = to(error)
        return mapped && { ...fromMapper(mapped, this.typeBase), ...level }
      }
    }
    if (!this.#find(to)) throw new FMOD_ERRORS_UNKNOWN_PROBLEM(to)
    return (error) => ({ ...this.describe(to, extensions?.(error)), ...level })
  }

  #find(slug: string): ProblemDefinition | undefined {
    return firstOf(this.#lineage, (scope) => scope.#definitions.get(slug))
  }

  #assertOpen(call: string): void {
    if (this.#isClosed) throw new FMOD_ERRORS_CLOSED(call)
  }
}

function firstOf<T, R>(items: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}

/** @throws {FMOD_ERRORS_INVALID_MAPPING} an argument has the wrong type */
function checkMapping(
  match: unknown,
  { to, extensions }: { readonly to: unknown; readonly extensions?: unknown },
): void {
  if (typeof match !== 'function') throw new FMOD_ERRORS_INVALID_MAPPING('a class or predicate', typeof match)
  if (typeof to !== 'string' && typeof to !== 'function')
    throw new FMOD_ERRORS_INVALID_MAPPING('a slug or function as "to"', typeof to)
  if (extensions !== undefined && typeof extensions !== 'function')
    throw new FMOD_ERRORS_INVALID_MAPPING('a function as "extensions"', typeof extensions)
}

/** Distinguishes classes from predicates: both are functions, and only classes have a prototype that cannot be assigned. */
function isErrorClass(match: ErrorMatch<unknown>): boolean {
  const { value, writable } = Object.getOwnPropertyDescriptor(match, 'prototype') ?? {}
  return writable === false || value instanceof Error
}

/**
 * The application's problems by slug, each with the extensions of its body. Extend it by declaration merging:
 * `declare module '@fastify-modular/errors' { interface ProblemTypes { 'out-of-credit': { balance: number } } }`.
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- merged into by applications
export interface ProblemTypes {}

/** The slugs of `ProblemTypes`. */
export type ProblemSlug = keyof ProblemTypes & string

/** The extensions of a problem as an argument, which may be left out where all of them are optional. */
export type ProblemExtensions<S extends ProblemSlug> =
  Partial<ProblemTypes[S]> extends ProblemTypes[S]
    ? [extensions?: ProblemTypes[S]]
    : [extensions: ProblemTypes[S]]

/** What every occurrence of a problem shares. */
export interface ProblemDefinition<E = Record<string, unknown>> {
  /** 400–599. */
  readonly status: number
  readonly title: string
  /** About one occurrence, for the caller; a 5xx always has the constant text. @default the constant text of the status */
  readonly detail?: string | ((extensions: E) => string)
  /** JSON Schemas of its extensions, for documents. */
  readonly properties?: { readonly [N in keyof E]?: object }
}

/** @throws {FMOD_ERRORS_INVALID_PROBLEM} the slug is not kebab-case, the status not 400–599, or the title empty */
function checkDefinition(slug: string, { status, title }: ProblemDefinition<never>): void {
  const wrong =
    (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(slug) && 'its slug is not kebab-case such as "out-of-credit"') ||
    (!isErrorStatus(status) && 'its status is not an integer from 400 to 599') ||
    ((typeof title !== 'string' || title === '') && 'it has no title')
  if (wrong) throw new FMOD_ERRORS_INVALID_PROBLEM(slug, wrong)
}

interface Occurrence {
  readonly slug: string
  readonly definition: ProblemDefinition
  readonly extensions: Readonly<Record<string, unknown>>
  readonly typeBase: string
}

/** `out-of-credit` → `OUT_OF_CREDIT`. */
export function codeOf(slug: string): string {
  return slug.replaceAll('-', '_').toUpperCase()
}

/** One occurrence of a defined problem. */
function fromDefinition({ slug, definition, extensions, typeBase }: Occurrence): Problem {
  const { status, title, detail } = definition
  const text = typeof detail === 'function' ? detail(extensions) : detail
  return {
    type: typeBase + slug,
    title,
    status,
    detail: status < 500 && text !== undefined ? text : statusMessage(status),
    code: codeOf(slug),
    extensions,
  }
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

/** Returns what an error means; undefined leaves it to the next mapping. */
export type ProblemMapper<E> = (error: E) => MappedProblem | DomainException | undefined

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
