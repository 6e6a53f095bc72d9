/** Trailers are sent after a body, and tell of it: its digest, its time. A failure sends another body. */
import type { FastifyReply } from 'fastify'

/** Fastify removes a trailer by its name and tells no names: they are read where it keeps them. */
let key: symbol | undefined

/** Takes away the trailers that were set for the body that is not sent; one that throws would cost the answer. */
export function removeTrailers(reply: FastifyReply): void {
  if (key === undefined || !(key in reply)) key = findKey(reply)
  const trailers = key === undefined ? null : (reply as unknown as Record<symbol, object | null>)[key]
  if (trailers) for (const name of Object.keys(trailers)) reply.removeTrailer(name)
}

function findKey(reply: FastifyReply): symbol | undefined {
  return Object.getOwnPropertySymbols(reply).find(
    ({ description }) => description === 'fastify.reply.trailers',
  )
}
