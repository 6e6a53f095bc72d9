/** Compression of what programs read, and of files that are not compressed already. */
import compress from '@fastify/compress'
import type { FastifyInstance } from 'fastify'

/** Registers it. Routes that come later are compressed. */
export async function addCompression(app: FastifyInstance): Promise<void> {
  await app.register(compress, {
    encodings: ['br', 'gzip'],
    // Not documents: the length of one that holds somebody's data beside text of its address would tell both (BREACH).
    customTypes:
      /^(?:text\/(?!html|event-stream)|application\/(?:[\w.+-]+\+)?(?:json|javascript|xml)\b|image\/svg)/i,
    globalDecompression: false, // no body of a request unpacks to a thousand times its size
  })
}
