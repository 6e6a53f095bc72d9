/** A port that nothing listens on. */
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Finds a free port of 127.0.0.1. Another process may take it before you do: retry when listening fails. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('127.0.0.1 gave no port')
  return address.port
}
