/** @fastify-modular/core/problem: problem details (RFC 9457), the same for every package that answers. */
export { allowedHeaders, type ErrorContext, problemOfError } from './problem.ts'
export {
  defaultTypeBase,
  isErrorStatus,
  type Problem,
  problemMediaType,
  problemOfStatus,
  problemType,
  type ProblemLogLevel,
  routeNotFound,
  statusMessage,
  statusTitle,
} from './problem.ts'
export { type ProblemOccurrence, problemText, standardMembers } from './body.ts'
