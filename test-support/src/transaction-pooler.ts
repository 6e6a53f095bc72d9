/**
 * A pooler in transaction mode, like PgBouncer's, in front of PostgreSQL: each transaction of a client runs on another
 * connection of the server than the one before, so that whatever belongs to a session gets lost.
 */
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { Client } from 'pg'
import { listen } from './free-port.ts'
import { createMessageReader } from './postgres/messages.ts'

export interface TransactionPooler {
  /** The URL of the server, with the host and port of the pooler. */
  readonly url: string
  /** Transactions so far, statements outside of any included. */
  readonly transactions: number
  close(): Promise<void>
}

/** Starts it with three connections to the server. */
export async function startTransactionPooler(target: string): Promise<TransactionPooler> {
  const servers = new Servers(target)
  await servers.open(3)
  const clients = new Set<Socket>()
  let transactions = 0
  const pooler = createServer({ noDelay: true }, (socket) => {
    clients.add(socket)
    socket.once('close', () => clients.delete(socket))
    serve(socket, servers, () => transactions++)
  })
  const port = String(await listen(pooler))
  return {
    url: Object.assign(new URL(target), { hostname: '127.0.0.1', port }).href,
    get transactions() {
      return transactions
    },
    async close() {
      for (const socket of clients) socket.destroy()
      pooler.close()
      await servers.close()
    },
  }
}

/** A connection to the server that has signed in; nothing but bytes from here on. */
interface Server {
  readonly stream: Socket
  onMessage: (message: Buffer) => void
}

class Servers {
  readonly #target: string
  /** The one that was used longest ago comes first. */
  readonly #free: Server[] = []
  readonly #all = new Set<Server>()
  readonly #waiting: ((server: Server) => void)[] = []

  constructor(target: string) {
    this.#target = target
  }

  async open(count: number): Promise<void> {
    for (let opened = 0; opened < count; opened++) this.give(await this.#connect())
  }

  take(): Promise<Server> {
    const server = this.#free.shift()
    return server ? Promise.resolve(server) : new Promise((resolve) => this.#waiting.push(resolve))
  }

  give(server: Server): void {
    server.onMessage = () => {} // notifications and notices of nobody's transaction
    const next = this.#waiting.shift()
    if (next) next(server)
    else this.#free.push(server)
  }

  /** Replaces one whose client went away in a transaction. */
  async drop(server: Server): Promise<void> {
    this.#all.delete(server)
    server.stream.destroy()
    await this.open(1)
  }

  async close(): Promise<void> {
    await Promise.all(
      [...this.#all].map(async ({ stream }) => {
        stream.destroy()
        if (!stream.closed) await once(stream, 'close')
      }),
    )
  }

  /** The driver signs in, then hands its socket over. */
  async #connect(): Promise<Server> {
    const client = new Client({ connectionString: this.#target })
    client.on('error', () => {})
    await client.connect()
    const stream = client.connection.stream as Socket
    const server: Server = { stream, onMessage: () => {} }
    stream.removeAllListeners('data')
    readMessages(stream, (message) => server.onMessage(message))
    this.#all.add(server)
    return server
  }
}

/** What a client gets in place of signing in: anyone may enter, and its session is idle. */
const welcome = Buffer.from([82, 0, 0, 0, 8, 0, 0, 0, 0, 90, 0, 0, 0, 5, 73])

function serve(socket: Socket, servers: Servers, onTransaction: () => void): void {
  let server: Server | undefined
  /** Whether a connection of the server was asked for. */
  let isTaking = false
  /** Answers `ReadyForQuery` that are still to come. */
  let pending = 0
  let waiting: Buffer[] = []

  function toServer(message: Buffer): void {
    const type = String.fromCharCode(message[0] ?? 0)
    if (type === 'X') return void socket.end()
    if (type === 'Q' || type === 'S') pending++
    if (server) return void server.stream.write(message)
    waiting.push(message)
    if (!isTaking) void begin()
  }

  async function begin(): Promise<void> {
    isTaking = true
    const taken = await servers.take()
    isTaking = false
    if (socket.destroyed) return servers.give(taken)
    onTransaction()
    server = taken
    taken.onMessage = toClient
    for (const each of waiting) taken.stream.write(each)
    waiting = []
  }

  function toClient(message: Buffer): void {
    socket.write(message)
    if (message[0] !== 90) return // ReadyForQuery
    pending--
    const isIdle = message[5] === 73
    if (!isIdle || pending > 0 || !server) return
    const done = server
    server = undefined
    servers.give(done)
  }

  socket.on('error', () => {}) // `close` follows
  socket.once('close', () => {
    if (server) void servers.drop(server).catch(() => {}) // the test has ended
  })
  socket.once('data', (startup: Buffer) => {
    socket.write(welcome)
    readMessages(socket, toServer)
    const rest = startup.subarray(startup.readUInt32BE(0))
    if (rest.length > 0) socket.unshift(rest)
  })
}

function readMessages(stream: Socket, onMessage: (message: Buffer) => void): void {
  const read = createMessageReader()
  stream.on('data', (chunk: Buffer) => {
    for (const message of read(chunk)) onMessage(message)
  })
}
