/** @fastify-modular/errors: one pipeline for everything that goes wrong. */
import type { Problems } from './problems.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** What the errors of this scope and of those above it are answered by. */
    readonly problems: Problems
  }
  interface FastifySchema {
    /** Leaves a route out of OpenAPI documents; `@fastify/swagger` declares the same. */
    hide?: boolean
  }
}

export type { ErrorMatch, MappedProblem, ProblemMapping, Problems } from './problems.ts'
export type { ErrorsOptions } from './options.ts'
export { errors, errors as default } from './plugin.ts'
export type { Problem } from '@fastify-modular/core/problem'
export type { PageRenderer } from '@fastify-modular/core/internal'
export { problemChannel, type ProblemEvent } from './report.ts'
export { type ProblemResponse, problemResponses } from './schemas.ts'
export { createErrorServerOptions } from './server-options.ts'
export { isForeignKeyViolation, isUniqueViolation, mapDatabaseConflicts } from './database-conflicts.ts'
export { type ProblemContext, toProblem } from './to-problem.ts'
