/** Problems that an application names once and answers by that name. */
import { FMOD_ERRORS_INVALID_PROBLEM } from '../misuse-errors.ts'
import { isErrorStatus, type Problem, statusMessage } from '../problem.ts'
import { codeOf } from './slug.ts'

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
  /** About one occurrence, for the caller; a 5xx always says the constant. @default the constant text of the status */
  readonly detail?: string | ((extensions: E) => string)
}

/** @throws {FMOD_ERRORS_INVALID_PROBLEM} the slug is not kebab-case, the status not 400–599, or the title empty */
export function checkDefinition(slug: string, { status, title }: ProblemDefinition<never>): void {
  const wrong =
    (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(slug) && 'its slug is not kebab-case such as "out-of-credit"') ||
    (!isErrorStatus(status) && 'its status is not an integer from 400 to 599') ||
    ((typeof title !== 'string' || title === '') && 'it has no title')
  if (wrong) throw new FMOD_ERRORS_INVALID_PROBLEM(slug, wrong)
}

/** One occurrence of a defined problem. */
export function fromDefinition(
  slug: string,
  { status, title, detail }: ProblemDefinition,
  extensions: Readonly<Record<string, unknown>>,
  typeBase: string,
): Problem {
  const told = typeof detail === 'function' ? detail(extensions) : detail
  return {
    type: typeBase + slug,
    title,
    status,
    detail: status < 500 && told !== undefined ? told : statusMessage(status),
    code: codeOf(slug),
    extensions,
  }
}
