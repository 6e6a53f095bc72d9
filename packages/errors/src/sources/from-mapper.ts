/** What an application's own mapper says that an error means. */
import { type DomainException, isDomainException } from '@fastify-modular/core'
import { httpProblem, isErrorStatus, type Problem } from '../problem.ts'
import { allowedHeaders } from '../render/headers.ts'
import { fromDomain } from './from-domain.ts'
import { slugOf } from './slug.ts'

/** A problem put together by a mapper. What it leaves out follows from the status. */
export interface MappedProblem {
  /** 400–599. */
  readonly status: number
  /** Absolute URI. @default made of the code, or `about:blank` without one */
  readonly type?: string
  /** Ignored for `about:blank`, which is titled by the phrase of its status (RFC 9457, 4.2.1). */
  readonly title?: string
  /** For the caller; a 5xx always says the constant. */
  readonly detail?: string
  readonly code?: string
  readonly extensions?: Readonly<Record<string, unknown>>
  /** Those of `www-authenticate`, `retry-after`, `allow`, `accept*` and `ratelimit*` are sent. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Tells what an error means; undefined leaves it to the next mapping. */
export type ProblemMapper<E> = (error: E) => MappedProblem | DomainException | undefined

/**
 * The mapper's answer as a whole problem.
 * @throws {TypeError} it names no error status
 */
export function fromMapper(mapped: MappedProblem | DomainException, typeBase: string): Problem {
  if (isDomainException(mapped)) return fromDomain(mapped, typeBase)
  const { status, code, extensions } = mapped
  if (!isErrorStatus(status)) throw new TypeError('A problem mapper must return a status from 400 to 599')
  const plain = httpProblem(status)
  const type = mapped.type ?? (code === undefined ? plain.type : typeBase + slugOf(code))
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
