/** What errors say that carry an HTTP status: Fastify's own, those of `@fastify/error` and http-errors, bare objects. */
import { httpProblem, isErrorStatus, type Problem } from '../problem.ts'
import { allowedHeaders } from '../render/headers.ts'
import { safeRead, safeText } from '../values/safe-read.ts'

/** Marks every error class made by `@fastify/error`, whichever copy of it. */
const fastifyError = Symbol.for('fastify-error-generic')

/**
 * Any thrown value as a problem of its status, or of 500 (decision 43).
 * @param replyStatus the status set on the reply before the failure; it counts where the error names none
 */
export function fromHttp(error: unknown, replyStatus?: number): Problem {
  const status = statusOf(error, replyStatus)
  const problem = httpProblem(status)
  const headers = isUpstream(error) ? undefined : allowedHeaders(safeRead(error, 'headers'))
  const told = status < 500 ? tell(error) : undefined
  return headers || told ? { ...problem, ...told, ...(headers && { headers }) } : problem
}

function statusOf(error: unknown, replyStatus: number | undefined): number {
  const own = safeRead(error, 'statusCode')
  if (isErrorStatus(own)) return isUpstream(error) ? 500 : own
  // With a tracing subscriber Fastify copies `error.status` to the reply before the handler runs: then it is upstream's.
  const namesNone = own === undefined && safeRead(error, 'status') === undefined
  return namesNone && isErrorStatus(replyStatus) ? replyStatus : 500
}

/**
 * Whether the error reports the answer of another server: its status and headers are not ours to repeat. undici, axios,
 * got, AWS and Elasticsearch clients are known by what they attach.
 */
function isUpstream(error: unknown): boolean {
  return (
    safeText(error, 'code')?.startsWith('UND_ERR') === true ||
    safeRead(error, 'isAxiosError') === true ||
    isObject(safeRead(error, 'response')) ||
    isObject(safeRead(error, '$metadata')) ||
    (safeRead(error, 'name') === 'ResponseError' && isObject(safeRead(error, 'meta')))
  )
}

/** The message and code of an error that was made to be shown; everyone else's message may be a secret. */
function tell(error: unknown): Partial<Problem> | undefined {
  const expose = safeRead(error, 'expose')
  const isFastifys = safeRead(error, fastifyError) === true
  if (expose === false || !(expose === true || isFastifys)) return undefined
  const detail = safeText(error, 'message')
  // Codes of drivers and of the system (23505, ENOENT) say what the server is made of; @fastify/error's are API.
  const code = isFastifys ? safeText(error, 'code', 100) : undefined
  return { ...(detail && { detail }), ...(code && { code }) }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
