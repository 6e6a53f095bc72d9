/** Adds access to OpenAPI documents: `security`, `x-permission`, and the problems with which the gate refuses. */
import type { FastifyInstance } from 'fastify'
import { parseRoutePattern } from '../matching/route-pattern.ts'
import type { SecuritySchemes } from '../provider.ts'
import type { AccessRow } from './table.ts'

type Members = Readonly<Record<string, unknown>>

/**
 * Adds the access of routes to the document of @fastify/swagger: `transformObject: accessTransform(app)`. What the schema of
 * a route says counts, documents of Swagger 2 stay as they are, and no schema is changed.
 */
export function accessTransform<Document extends object>(app: FastifyInstance) {
  return (document: { openapiObject: Document } | { swaggerObject: Document }): Document =>
    'openapiObject' in document ? app.access.openapi(document.openapiObject) : document.swaggerObject
}

/** The document with the access of these rows. */
export function describeAccess<Document extends object>(
  document: Document,
  { rows, schemes }: { readonly rows: readonly AccessRow[]; readonly schemes: SecuritySchemes },
): Document {
  const { paths = {}, components = {}, servers = [], security } = toMembers(document)
  const own = Object.keys(schemes).map((name) => ({ [name]: [] }))
  const known = own.length > 0 ? own : toList(security)
  const rowsOf = createSearch(rows, basesOf(servers))
  const items = Object.entries(toMembers(paths)).map(([path, item]) => {
    const operations = Object.entries(toMembers(item)).map(([method, operation]) => {
      const found = rowsOf(method, path)
      return [method, found.length === 0 ? operation : describeOperation(toMembers(operation), found, known)]
    })
    return [path, Object.fromEntries(operations)]
  })
  return {
    ...document,
    components: {
      ...toMembers(components),
      securitySchemes: { ...schemes, ...toMembers(toMembers(components)['securitySchemes']) },
      responses: {
        ...usedRefusals(items, problemSchemaOf(components)),
        ...toMembers(toMembers(components)['responses']),
      },
    },
    paths: Object.fromEntries(items),
  }
}

/**
 * Routes that differ by constraints are one operation, which needs a known caller unless all of them are public.
 * @param security the schemes of which a known caller uses one; empty where none is known
 */
function describeOperation(
  operation: Members,
  rows: readonly AccessRow[],
  security: readonly unknown[],
): Members {
  const closed = rows.filter(({ access }) => access !== 'public')
  if (closed.length === 0) return { security: [], ...operation }
  const permissions = new Set(
    closed.flatMap(({ access, checkedByHandler }) =>
      access === 'signed-in' ? (checkedByHandler ?? []) : [access],
    ),
  )
  const isOptional =
    closed.length < rows.length || closed.some(({ mayBeOpenedBy }) => mayBeOpenedBy.length > 0)
  return {
    ...(security.length > 0 && { security: isOptional ? [...security, {}] : security }),
    ...(permissions.size > 0 && { 'x-permission': [...permissions].join(' or ') }),
    ...operation,
    responses: {
      ...toMembers(operation['responses']),
      ...missingRefusals(toMembers(operation['responses']), permissions.size > 0 ? ['401', '403'] : ['401']),
    },
  }
}

function missingRefusals(present: Members, wanted: readonly ('401' | '403')[]): Members {
  const names = { 401: 'Unauthorized', 403: 'Forbidden' }
  return Object.fromEntries(
    wanted
      .filter((status) => !(status in present) && !('4XX' in present))
      .map((status) => [status, { $ref: referenceTo(names[status]) }]),
  )
}

const problem = {
  type: 'object',
  required: ['type', 'title', 'status', 'code'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string' },
    code: { type: 'string' },
    requestId: { type: 'string' },
  },
}

/** The schema that the errors plugin shares, under the name that the document gives it; one of our own without that plugin. */
function problemSchemaOf(components: unknown): Members {
  const schemas = Object.entries(toMembers(toMembers(components)['schemas']))
  const [name] = schemas.find(([, schema]) => toMembers(schema)['title'] === 'ProblemDetails') ?? []
  return name === undefined ? problem : { $ref: `#/components/schemas/${name}` }
}

const refusals = {
  Unauthorized: {
    description: 'The caller is not signed in',
    headers: { 'WWW-Authenticate': { description: 'How to sign in', schema: { type: 'string' } } },
  },
  Forbidden: { description: 'The caller lacks a permission' },
}

/** The refusals to which operations refer. */
function usedRefusals(items: readonly unknown[], schema: Members): Members {
  const text = JSON.stringify(items)
  const used = Object.entries(refusals).filter(([name]) => text.includes(referenceTo(name)))
  const content = { 'application/problem+json': { schema } }
  return Object.fromEntries(used.map(([name, refusal]) => [name, { ...refusal, content }]))
}

function referenceTo(name: string): string {
  return `#/components/responses/${name}`
}

/**
 * A search for the rows of an operation.
 * @param bases the paths of servers, which documents leave out of their own paths
 */
function createSearch(rows: readonly AccessRow[], bases: readonly string[]) {
  const operations = new Map<string, AccessRow[]>()
  for (const row of rows) {
    const name = `${row.method.toLowerCase()} ${pathOf(row.url)}`
    operations.set(name, [...(operations.get(name) ?? []), row])
  }
  return function rowsOf(method: string, path: string): readonly AccessRow[] {
    const required = path.replace(/\?$/, '') // an optional parameter keeps its question mark
    const find = (spelling: string) =>
      bases.flatMap((base) => operations.get(`${method} ${base}${spelling}`) ?? [])
    const exact = find(required)
    // Documents spell the root of a prefix with the slash, the table without.
    return exact.length > 0 ? exact : find(required.replace(/\/$/, ''))
  }
}

/** The URL of a route as documents spell it: `/notes/{id}`. */
function pathOf(url: string): string {
  const [pattern = []] = parseRoutePattern(url)
  return pattern.map((part) => (typeof part === 'string' ? part : `{${part.param}}`)).join('')
}

function basesOf(servers: unknown): readonly string[] {
  const paths = toList(servers).map((server) => {
    const url = String(toMembers(server)['url'] ?? '')
    return url.startsWith('/') ? url : URL.canParse(url) ? new URL(url).pathname : ''
  })
  return [...new Set(['', ...paths.map((path) => path.replace(/\/$/, ''))])]
}

function toMembers(value: unknown): Members {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
