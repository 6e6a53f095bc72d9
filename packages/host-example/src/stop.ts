/** Stops the application: what is being answered is finished, and no idle connection is waited for. */
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/**
 * Remembers the connections of an application that is about to listen; returns the function that stops it. For
 * `drainTime` ms it goes on answering, so that balancers notice; then requests in flight may take `patience` ms to end.
 */
export function createStop(app: FastifyInstance, patience: number): (drainTime: number) => Promise<void> {
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

  return async function stop(drainTime) {
    app.drain()
    await delay(drainTime)
    const sweeping = setInterval(closeIdle, 50)
    const ending = setTimeout(cutOff, patience)
    try {
      await app.close()
    } finally {
      clearInterval(sweeping)
      clearTimeout(ending)
    }
  }
}
