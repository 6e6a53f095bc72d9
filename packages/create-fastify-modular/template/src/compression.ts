/** Compression of what programs read, and of files that are not compressed already. */
import compress from '@fastify/compress'
import type { FastifyInstance } from 'fastify'

/** Registers it. Routes that come later are compressed. */
export async function addCompression(app: FastifyInstance): Promise<void> {
  // The length of a document that holds somebody's data beside text of its address would tell both (BREACH).
  // The option customTypes cannot leave HTML out: it only adds to what the plugin compresses anyway.
  app.addHook('onSend', function leaveDocuments(request, reply, payload, done) {
    if (String(reply.getHeader('content-type')).startsWith('text/html'))
      request.headers['x-no-compression'] = 'document' // what @fastify/compress looks for
    done(null, payload)
  })
  await app.register(compress, {
    encodings: ['br', 'gzip'],
    globalDecompression: false, // no body of a request unpacks to a thousand times its size
  })
}
