/** A problem as the text of `application/problem+json` (RFC 9457). */
import type { FastifyRequest } from 'fastify'
import { type Problem, standardMembers } from '../problem.ts'
import { cut, safeKeys } from '../values/safe-read.ts'
import { traceIdOf } from './trace-id.ts'

const maxDetail = 2000
/** Of all extensions together, in characters of JSON. */
const maxExtensions = 65_536

/** The body of a problem. Text, because a response schema of the route would filter an object; and it is faster. */
export function renderProblem(problem: Problem, request: FastifyRequest): string {
  const traceId = traceIdOf(request.headers['traceparent'])
  return (
    `${headOf(problem)},"instance":"${pathOf(request.url)}","requestId":${quote(String(request.id))}` +
    (traceId === undefined ? '' : `,"traceId":"${traceId}"`) +
    (problem.extensions ? renderExtensions(problem.extensions) : '') +
    '}'
  )
}

interface Head extends Pick<Problem, 'type' | 'title' | 'status' | 'code' | 'detail'> {
  /** The members that problems of one kind share, without the closing brace. */
  readonly json: string
  /** The same with the detail that was met first: mostly the constant one of a status. */
  readonly withDetail: string
}

/** By type, or by code where the type says nothing. The other members hardly ever differ; a few hundred kinds are many. */
const heads = new Map<string, Head>()
const maxHeads = 500

/** The members that come of the problem alone, without the closing brace. */
function headOf({ type, title, status, code, detail }: Problem): string {
  const kind = type === 'about:blank' ? code : type
  const known = heads.get(kind)
  if (known && known.type === type && known.title === title && known.status === status && known.code === code)
    return known.detail === detail ? known.withDetail : withDetail(known.json, detail)
  const json = JSON.stringify({ type, title, status, code }).slice(0, -1)
  const whole = withDetail(json, detail)
  if (known || heads.size < maxHeads)
    heads.set(kind, { type, title, status, code, json, detail: cut(detail, maxDetail), withDetail: whole })
  return whole
}

function withDetail(json: string, detail: string): string {
  return `${json},"detail":${quote(cut(detail, maxDetail))}`
}

/** `JSON.stringify` of a string, in half the time for one that needs no escapes. */
function quote(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters must be escaped
  return /["\\\u0000-\u001f\u007f-\uffff]/.test(text) ? JSON.stringify(text) : `"${text}"`
}

/** Tokens live in queries: the path alone says where it happened. A URI reference, whatever bytes the caller sent. */
function pathOf(url: string): string {
  const end = url.indexOf('?')
  const path = cut(end === -1 ? url : url.slice(0, end), maxDetail)
  return notInPaths.test(path) ? path.toWellFormed().replaceAll(notInPathsAll, encodeURIComponent) : path
}

/** RFC 3986, 3.3; nothing that it allows needs an escape in JSON. */
const notInPaths = /[^\w\-.~!$&'()*+,;=:@%/]/
const notInPathsAll = new RegExp(notInPaths, 'gu')

/** `,"name":value` for each extension. One that cannot be told is left out, never the answer. */
function renderExtensions(extensions: Readonly<Record<string, unknown>>): string {
  let members = ''
  for (const name of safeKeys(extensions)) {
    // RFC 9457, 3.2: names begin with a letter and are made of letters, digits and underscores.
    if (standardMembers.has(name) || !/^[A-Za-z]\w{0,99}$/.test(name)) continue
    const value = toJson(extensions, name)
    if (value !== undefined && members.length + value.length <= maxExtensions)
      members += `,"${name}":${value}`
  }
  return members
}

function toJson(extensions: Readonly<Record<string, unknown>>, name: string): string | undefined {
  try {
    return JSON.stringify(extensions[name])
  } catch {
    return undefined // circular, a BigInt, a getter or toJSON that throws
  }
}
