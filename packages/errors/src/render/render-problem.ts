/** A problem as the bytes of `application/problem+json` (RFC 9457). */
import type { FastifyRequest } from 'fastify'
import { type Problem, standardMembers } from '../problem.ts'
import { cut } from '../values/safe-read.ts'
import { traceIdOf } from './trace-id.ts'

const maxDetail = 2000
/** Of all extensions together, in characters of JSON. */
const maxExtensions = 65_536

/**
 * The body of a problem. Bytes, because a response schema of the route would filter an object, and because Fastify adds
 * a charset to the content type of a string. Built by hand: a third of the time of serialising an object.
 */
export function renderProblem(problem: Problem, request: FastifyRequest): Buffer {
  const { type, title, status, detail, code } = problem
  const traceId = traceIdOf(request.headers['traceparent'])
  return Buffer.from(
    `{"type":${JSON.stringify(type)},"title":${JSON.stringify(title)},"status":${status}` +
      `,"detail":${JSON.stringify(cut(detail, maxDetail))},"instance":${JSON.stringify(pathOf(request.url))}` +
      `,"code":${JSON.stringify(code)},"requestId":${JSON.stringify(String(request.id))}` +
      (traceId === undefined ? '' : `,"traceId":"${traceId}"`) +
      (problem.extensions ? renderExtensions(problem.extensions) : '') +
      '}',
  )
}

/** Tokens live in queries: the path alone says where it happened. */
function pathOf(url: string): string {
  const end = url.search(/[?#]/)
  return cut(end === -1 ? url : url.slice(0, end), maxDetail)
}

/** `,"name":value` for each extension. One that cannot be told is left out, never the answer. */
function renderExtensions(extensions: Readonly<Record<string, unknown>>): string {
  let members = ''
  for (const name of Object.keys(extensions)) {
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
