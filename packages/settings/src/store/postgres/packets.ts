/** Several statements in one packet. */
import { Writable } from 'node:stream'
import type { PoolClient, QueryConfig, QueryResult } from 'pg'

/**
 * Runs the statements in their order. Where the driver pipelines they go out as one packet: each packet wakes the server
 * up, which costs as much as a small statement. Otherwise each one waits for the answer of the one before.
 */
export async function sendTogether(
  client: PoolClient,
  statements: readonly QueryConfig[],
): Promise<readonly QueryResult[]> {
  if (member(client, 'pipeline') === true) return Promise.all(sendInOnePacket(client, statements))
  const results: QueryResult[] = []
  for (const statement of statements) results.push(await client.query(statement))
  return results
}

function sendInOnePacket(client: PoolClient, statements: readonly QueryConfig[]): Promise<QueryResult>[] {
  const socket = socketOf(client)
  socket?.cork()
  try {
    return statements.map((statement) => client.query(statement))
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
