/** The `Vary` header (RFC 9110, 12.5.5): what an answer depends on, for caches. */
import type { FastifyReply } from 'fastify'

type Names = readonly [string, ...string[]]

/** Adds the names of request headers to the reply's `Vary`. */
export function addVary(reply: FastifyReply, ...names: Names): void {
  reply.header('vary', varyWith(reply, ...names))
}

/** The reply's `Vary` with these names added; present names stay, and `*` covers all. */
export function varyWith(reply: FastifyReply, ...names: Names): string {
  const present = reply.getHeader('vary')
  if (present === undefined) return names.join(', ')
  const value = String(present)
  const known = value.toLowerCase().split(/\s*,\s*/)
  if (known.includes('*')) return value
  return [value, ...names.filter((name) => !known.includes(name.toLowerCase()))].join(', ')
}
