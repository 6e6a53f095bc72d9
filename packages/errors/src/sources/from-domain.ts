/** What a domain exception says to its caller. */
import type { DomainException } from '@fastify-modular/core'
import { httpProblem, isErrorStatus, type Problem, statusMessage, statusTitle } from '../problem.ts'
import { allowedHeaders } from '../render/headers.ts'
import { safeRead, safeText } from '../values/safe-read.ts'
import { slugOf } from './slug.ts'

/** A domain exception as a problem: its own title and code, a type made of the code, never the message of a 5xx. */
export function fromDomain(exception: DomainException, typeBase: string): Problem {
  // Guarded reads, although the brand is right: a subclass may define members as getters.
  const named = safeRead(exception, 'statusCode')
  const status = isErrorStatus(named) ? named : 500
  const code = safeText(exception, 'code', 100)
  if (!code) return httpProblem(status)
  const message = status < 500 ? safeText(exception, 'message') : undefined
  const extensions = safeRead(exception, 'extensions')
  const headers = allowedHeaders(safeRead(exception, 'headers'))
  return {
    type: typeBase + slugOf(code),
    title: safeText(exception, 'title', 200) ?? statusTitle(status),
    status,
    detail: message ?? statusMessage(status),
    code,
    ...(isRecord(extensions) && { extensions }),
    ...(headers && { headers }),
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
