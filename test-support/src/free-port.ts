/** A port that nothing listens on, and servers that take one. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/** Lets a server listen on 127.0.0.1, on a free port unless one is named. Returns the port. */
export async function listen(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('127.0.0.1 gave no port')
  return address.port
}

/** Finds a free port of 127.0.0.1. Another process may take it before you do: retry when listening fails. */
export async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listen(server)
  server.close()
  await once(server, 'close')
  return port
}
