/** Several statements in one packet. */
import { Writable } from 'node:stream'
import type { PoolClient } from 'pg'

/**
 * Sends what `send` queries as one packet: each packet wakes the server up, which costs as much as a small statement.
 * Where the driver does not show its socket, or waits for each answer, the statements are sent one by one as ever.
 */
export function sendTogether<T>(client: PoolClient, send: () => T): T {
  const socket = socketOf(client)
  socket?.cork()
  try {
    return send()
  } finally {
    socket?.uncork()
  }
}

/** The driver has it as `client.connection.stream`, which its types do not tell. */
function socketOf(client: object): Writable | undefined {
  const stream = member(member(client, 'connection'), 'stream')
  return stream instanceof Writable ? stream : undefined
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
