/** Stops the application: what is being answered is finished, and nobody else is waited for. */
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/**
 * Remembers the connections of an application that is about to listen; returns the function that stops it. Requests in
 * flight may take `patience` ms to finish, and whatever else is to be closed as long again: then it rejects.
 */
export function createStop(app: FastifyInstance, patience = 10_000): () => Promise<void> {
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
    const sweeping = setInterval(closeIdle, 50)
    const ending = setTimeout(cutOff, patience)
    let givingUp: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      const error = new Error(`The application did not close within ${2 * patience} ms.`)
      givingUp = setTimeout(() => reject(error), 2 * patience)
    })
    try {
      await Promise.race([app.close(), late])
    } finally {
      clearInterval(sweeping)
      clearTimeout(ending)
      clearTimeout(givingUp)
    }
  }
}
