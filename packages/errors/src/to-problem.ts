/** From anything thrown to what its caller may know: pure, total, the same for requests, workers and tests. */
import { isDomainException } from '@fastify-modular/core'
import { defaultTypeBase, httpProblem, type Problem } from './problem.ts'
import { fromDomain } from './sources/from-domain.ts'
import { fromHttp } from './sources/from-http.ts'
import { fromValidation } from './sources/from-validation.ts'

/** What is known beside the thrown value. */
export interface ProblemContext {
  /** The application's own mappings, asked first. */
  readonly mappings?: { resolve(error: unknown): Problem | undefined }
  /** Prefix of the type URIs. @default 'urn:problem:' */
  readonly typeBase?: string
  /** The status set on the reply before the failure; it counts where the error names none. */
  readonly replyStatus?: number
}

/**
 * The problem that a thrown value stands for (S 7.1): the application's mappings, domain exceptions, failures of
 * schemas, errors with an HTTP status, and 500 for everything else. Never throws, whatever is thrown at it.
 */
export function toProblem(error: unknown, context: ProblemContext = {}): Problem {
  const { mappings, typeBase = defaultTypeBase, replyStatus } = context
  try {
    const mapped = mappings?.resolve(error)
    if (mapped) return mapped
    if (isDomainException(error)) return fromDomain(error, typeBase)
    return fromValidation(error, typeBase) ?? fromHttp(error, replyStatus)
  } catch {
    return httpProblem(500) // a hostile value found a way that no guard covers
  }
}
