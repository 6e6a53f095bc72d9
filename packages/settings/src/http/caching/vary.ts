/** What an answer depends on, for caches (RFC 9110, 12.5.5). */
import type { FastifyReply } from 'fastify'

/** Adds names to `Vary`, and keeps those that others have set before, such as CORS. */
export function addVary(reply: FastifyReply, names: string): void {
  const present = reply.getHeader('vary')
  reply.header('vary', present === undefined ? names : `${String(present)}, ${names}`)
}
