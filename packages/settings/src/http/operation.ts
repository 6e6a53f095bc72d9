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
  /** For reads: whether the answer carries an entity tag, and whether `If-None-Match` is compared with it. */
  readonly tag?: 'sent' | 'compared'
  /** The answer is a stream of events, which a reader may resume. */
  readonly isStream?: boolean
  /** When 429 is answered. */
  readonly tooMany?: string
  /** For writes: the body of 200 with `Prefer: return=representation`; without it they answer 204. */
  readonly written?: TSchema
}

const problemsOfAll = {
  400: 'The request is malformed',
  401: 'The caller is not signed in',
  403: 'The caller is not allowed to do this',
  503: 'The database or the authentication provider does not answer',
}
const problemsOfWrites = {
  409: 'Locked, or changed since it was read',
  412: 'The stored version does not match If-Match',
  413: 'The body is too large',
  415: 'The body is not JSON',
  422: 'Values violate their definitions; errors by key',
}

const text = (description: string) => Type.Optional(Type.String({ description }))
const conditions = Type.Object({
  'If-Match': text('The entity tag of the state that the change is based on'),
  'If-None-Match': text('`*`: only where nothing is stored'),
  Prefer: text('`return=representation`: the answer is what is stored now'),
})
const known = Type.Object({
  'If-None-Match': text('The entity tag of what the caller has: 304 if it is current'),
})
const resumed = Type.Object({
  'Last-Event-ID': text(
    'The id of the last event that the caller has: if it is not the newest, everything is sent first',
  ),
})

const etag = { ETag: { type: 'string', description: 'The tag of this state' } }
const headersOf: Readonly<Record<string, object>> = {
  401: { 'WWW-Authenticate': { type: 'string', description: 'How to sign in' } },
  412: etag,
  429: { 'Retry-After': { type: 'integer', description: 'Seconds' } },
  503: { 'Retry-After': { type: 'integer', description: 'Seconds' } },
}

/**
 * The `schema` and `config` of a route, for its options; the types of its parts are those of the handler's request. The gate
 * of public-routes reads the configuration, where there is one.
 */
export function operation<
  Params extends TSchema = TUnknown,
  Query extends TSchema = TUnknown,
  Body extends TSchema = TUnknown,
>(route: Operation<Params, Query, Body>) {
  const { operationId, summary, checkedByHandler, params, query, body, ok, tag, tooMany, written } = route
  const isWrite = body !== undefined || written !== undefined
  const problems = Object.entries({
    ...problemsOfAll,
    ...(params && { 404: 'There is nothing of this name' }),
    ...(isWrite && { 404: 'The setting does not exist', ...problemsOfWrites }),
    ...(tooMany !== undefined && { 429: tooMany }),
  }).map(([status, description]) => [
    status,
    { description, headers: headersOf[status], content: { 'application/problem+json': { schema: Problem } } },
  ])
  const headers: unknown = { ...ok?.['headers'], ...etag }
  const response = {
    ...(ok && { 200: tag ? { ...ok, headers } : ok }),
    ...(tag === 'compared' && { 304: Type.Null({ description: 'The caller has what is current', headers }) }),
    ...(written && {
      200: { ...written, headers: { ...etag, 'Preference-Applied': { type: 'string' } } },
      204: Type.Null({ description: 'Done', headers: etag }),
    }),
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
      ...(written && { headers: conditions }),
      ...(tag === 'compared' && { headers: known }),
      ...(route.isStream && { headers: resumed }),
      ...(body && { body }),
      response,
    },
  }
}

/** A write refuses a query unless it names one: a misspelt parameter must not be ignored. */
const withoutQuery: object = { querystring: NoQuery }
