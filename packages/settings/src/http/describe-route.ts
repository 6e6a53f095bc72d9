/** The schema of a route: what it takes, what it answers, which problems it may report. */
import { type TSchema, Type } from '@sinclair/typebox'
import type { FastifySchema } from 'fastify'
import { NoQuery, Problem } from './schemas.ts'

/** What a route takes and answers; `written` for routes that answer 204, or 200 with `Prefer: return=representation`. */
export interface RouteParts {
  readonly params?: TSchema
  readonly query?: TSchema
  readonly body?: TSchema
  readonly ok?: TSchema
  readonly written?: TSchema
}

/** By operation, so that the summaries stand side by side. */
const summaries = {
  listSettings: 'List settings by scope and group; sensitive values are null',
  listSettingDefinitions: 'List all definitions of settings',
  getPublicSettings: 'The values of settings that are public',
  getSetting: 'Get one setting in one scope',
  getResolvedSetting: 'The value that holds for the caller: their own, else the inherited one',
  updateSetting: 'Update one System or Application setting',
  updateSettings: 'Update many System and Application settings, all or nothing',
  resetSetting: 'Reset a System or Application setting to its default',
  listMySettings: "The caller's settings with what they inherit",
  updateMySetting: "Update one of the caller's settings",
  resetMySetting: "Clear one of the caller's settings",
  inspectSetting: 'Which layer supplies the value of a setting',
  listSettingHistory: 'What happened to one setting, newest first',
  getSettingHistoryEntry: 'What one revision did to one setting, with its values whole',
  rollbackSetting: 'Write again what a revision had made of a setting',
  listSettingChanges: 'What was written together, newest first',
  exportSettings: 'All stored System and Application values except secrets',
  importSettings: 'Write an export, all or nothing',
} as const

const problemsOf = {
  400: 'The request is malformed',
  401: 'Nobody is signed in',
  403: 'Not allowed',
  404: 'No such setting',
  503: 'The database, or who knows the callers, does not answer',
}
const problemsOfWrites = {
  409: 'Locked, or changed since it was read',
  412: 'Not the version that If-Match names',
  413: 'The body is too large',
  415: 'The body is not JSON',
  422: 'Values break their definitions; errors by key',
}

/** The `schema` of a route, for its options. */
export function describeRoute(
  operationId: keyof typeof summaries,
  { params, query, body, ok, written }: RouteParts,
): { schema: FastifySchema } {
  const isWrite = body !== undefined || written !== undefined
  const problems = Object.entries({ ...problemsOf, ...(isWrite && problemsOfWrites) }).map(
    ([status, description]) => [
      status,
      { description, content: { 'application/problem+json': { schema: Problem } } },
    ],
  )
  const schema = {
    operationId,
    summary: summaries[operationId],
    tags: ['settings'],
    ...(params && { params }),
    // A write that takes no query refuses one: who misspelt it wanted something else.
    ...((query || isWrite) && { querystring: query ?? NoQuery }),
    ...(body && { body }),
    response: {
      ...(ok && { 200: ok }),
      ...(written && { 200: written, 204: Type.Null({ description: 'Done' }) }),
      ...Object.fromEntries(problems),
    },
  }
  return { schema }
}
