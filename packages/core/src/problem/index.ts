/** @fastify-modular/core/problem: problem details (RFC 9457), the same for every package that answers. */
export {
  allowedHeaders,
  defaultTypeBase,
  type ErrorContext,
  isErrorStatus,
  type Problem,
  problemMediaType,
  problemOfError,
  problemOfStatus,
  problemType,
  type ProblemLogLevel,
  routeNotFound,
  statusMessage,
  statusTitle,
} from './problem.ts'
export { type ProblemOccurrence, problemText, standardMembers } from './body.ts'
