/** How a stream begins, and what it says beside settings. */
import type { FastifyReply } from 'fastify'

/** Changes wait to be kept, or others than before: whoever may keep them reads them. */
export const openEvent = Buffer.from('event: open\ndata: {}\n\n')

/** There is no stream for this reader, who has to poll. */
export const overEvent = 'event: over\ndata: {}\n\n'

/** Not in chunks: the answer ends with its connection, and each event is the same bytes for everybody. */
export function writeHead(reply: FastifyReply): void {
  const { raw, request } = reply
  const isHttp1 = request.raw.httpVersionMajor < 2
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) raw.setHeader(name, value)
  const { socket } = request.raw
  if ('setTimeout' in socket) socket.setTimeout(0)
  if (isHttp1) raw.removeHeader('transfer-encoding')
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    ...(isHttp1 && { connection: 'close' }),
  })
  raw.flushHeaders()
  // After the head: until here a failure is answered like any other.
  reply.hijack()
}
