/** A route as an operation of the OpenAPI document: what it takes, what it answers, which problems it may report. */
import { type TSchema, type TUnknown, Type } from '@sinclair/typebox'
import { NoQuery, Problem } from './schemas.ts'

interface Operation<Params, Query, Body> {
  readonly operationId: string
  readonly summary: string
  /** The permission that the handler checks, after the shape of the request. */
  readonly checkedByHandler?: string
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** The body of 200. */
  readonly ok?: TSchema
  /** For writes: the body of 200 with `Prefer: return=representation`; without it they answer 204. */
  readonly written?: TSchema
}

const problemsOfAll = {
  400: 'The request is malformed',
  401: 'The caller is not signed in',
  403: 'The caller is not allowed to do this',
  404: 'The setting does not exist',
  503: 'The database or the authentication provider does not answer',
}
const problemsOfWrites = {
  409: 'Locked, or changed since it was read',
  412: 'The stored version does not match If-Match',
  413: 'The body is too large',
  415: 'The body is not JSON',
  422: 'Values violate their definitions; errors by key',
}

/**
 * The `schema` and `config` of a route, for its options; the types of its parts are those of the handler's request. The gate
 * of public-routes reads the configuration, where there is one.
 */
export function operation<
  Params extends TSchema = TUnknown,
  Query extends TSchema = TUnknown,
  Body extends TSchema = TUnknown,
>({
  operationId,
  summary,
  checkedByHandler,
  params,
  query,
  body,
  ok,
  written,
}: Operation<Params, Query, Body>) {
  const isWrite = body !== undefined || written !== undefined
  const problems = Object.entries({ ...problemsOfAll, ...(isWrite && problemsOfWrites) }).map(
    ([status, description]) => [
      status,
      { description, content: { 'application/problem+json': { schema: Problem } } },
    ],
  )
  const response: unknown = {
    ...(ok && { 200: ok }),
    ...(written && { 200: written, 204: Type.Null({ description: 'Done' }) }),
    ...Object.fromEntries(problems),
  }
  return {
    // Of the route at `/`: /api/settings, not /api/settings/ (OpenAPI generators would name the last one registered).
    prefixTrailingSlash: 'no-slash' as const,
    config: { access: 'signed-in', ...(checkedByHandler && { checkedByHandler }) },
    schema: {
      operationId,
      summary,
      tags: ['settings'],
      ...(params && { params }),
      ...(isWrite && withoutQuery),
      ...(query && { querystring: query }),
      ...(body && { body }),
      response,
    },
  }
}

/** A write refuses a query unless it names one: a misspelt parameter must not be ignored. */
const withoutQuery: object = { querystring: NoQuery }
