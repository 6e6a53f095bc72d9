/** Tells cheaply whether there is anything to clean up on a reply: most failures meet one without headers. */
import type { FastifyReply } from 'fastify'

/**
 * Whether somebody has set a header before, or might have. `reply.getHeaders()` copies all of them into two objects;
 * Fastify keeps its own under a symbol, which is looked for once and taken only if a header that is set appears there.
 */
export const hasHeaders = createHeaderCheck()

/** A check that has not looked for the symbol yet. */
export function createHeaderCheck(): (reply: FastifyReply) => boolean {
  let key: symbol | null | undefined
  return function hasHeaders(reply) {
    if (key === undefined) key = findHeadersKey(reply)
    const headers = key === null ? undefined : headersUnder(reply, key)
    if (headers === undefined) return true // another copy of Fastify, or one that keeps them elsewhere
    for (const name in headers) if (name !== '') return true
    return reply.raw.getHeaderNames().length > 0
  }
}

function findHeadersKey(reply: FastifyReply): symbol | null {
  const mark = 'x-fastify-modular-probe'
  reply.header(mark, '1')
  const keys = Object.getOwnPropertySymbols(reply).filter(
    (key) => key.description === 'fastify.reply.headers' && headersUnder(reply, key)?.[mark] === '1',
  )
  reply.removeHeader(mark)
  return keys.length === 1 ? (keys[0] ?? null) : null
}

function headersUnder(reply: object, key: symbol): Readonly<Record<string, unknown>> | undefined {
  return (reply as Readonly<Record<symbol, Readonly<Record<string, unknown>> | undefined>>)[key]
}
