/** Stops the application: what is being answered is finished, and nobody else is waited for. */
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** How long requests in flight may take to finish, in ms. */
const patience = 10_000

/** Remembers the connections of an application that is about to listen; returns the function that stops it. */
export function createStop(app: FastifyInstance): () => Promise<void> {
  const connections = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })

  /** Connections kept for a next request, and those that browsers and balancers opened and never used. */
  function closeIdle(): void {
    app.server.closeIdleConnections()
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
  }

  function cutOff(): void {
    app.log.warn({ connections: connections.size }, 'requests that took too long to end were cut off')
    app.server.closeAllConnections()
  }

  return async function stop() {
    const closed = app.close()
    const sweeping = setInterval(closeIdle, 50)
    const ending = setTimeout(cutOff, patience)
    try {
      await closed
    } finally {
      clearInterval(sweeping)
      clearTimeout(ending)
    }
  }
}
