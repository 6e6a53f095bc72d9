/** A TCP proxy in front of a server, for tests of networks that reset, go silent, are slow or lose notifications. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { Transform } from 'node:stream'
import { listen } from './free-port.ts'
import { createMessageReader } from './postgres/messages.ts'

/**
 * - `none`: passes everything on.
 * - `reset`: both sides get a TCP reset.
 * - `silent`: bytes of both sides are acknowledged and dropped, and neither learns that the other has closed, like a
 *   network path that was lost; final for the connection, because bytes are gone.
 * - `no-notifications`: what `NOTIFY` sends is dropped, everything else passes; PostgreSQL without TLS only.
 * - `delay`: each chunk of either direction waits so many milliseconds.
 */
export type Fault = 'none' | 'reset' | 'silent' | 'no-notifications' | { readonly delay: number }

/** One connection through the proxy. */
export interface ProxiedConnection {
  apply(fault: Fault): void
  /** Whether the client sent this text within the last 64 KiB, for finding the connection that listens, for example. */
  hasSent(text: string): boolean
}

export interface FaultyProxy {
  /** The URL of the server, with the host and port of the proxy. */
  readonly url: string
  readonly port: number
  /** Connections that the client has not closed, oldest first. */
  readonly connections: readonly ProxiedConnection[]
  /** How many connections were made so far. */
  readonly accepted: number
  /** Applies to the connections that are open and to those made from now on. */
  apply(fault: Fault): void
  applyToOpen(fault: Fault): void
  applyToNew(fault: Fault): void
  /** Ends it, and all connections, at once. */
  close(): Promise<void>
}

/** Starts a proxy on a free port of 127.0.0.1 to the server of a URL such as `postgres://user:password@host:5432/name`. */
export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  const upstream = new URL(target)
  const isPostgres = /^postgres(?:ql)?:$/.test(upstream.protocol)
  const open = new Set<Connection>()
  let accepted = 0
  let future: Fault = 'none'
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    accepted++
    const connection = new Connection(client, upstream, isPostgres)
    open.add(connection)
    void connection.ended.then(() => open.delete(connection))
    connection.apply(future)
  })
  const port = await listen(server)

  const applyToOpen = (fault: Fault): void => {
    for (const connection of open) connection.apply(fault)
  }
  const applyToNew = (fault: Fault): void => void (future = fault)
  return {
    url: Object.assign(new URL(target), { hostname: '127.0.0.1', port: String(port) }).href,
    port,
    get connections() {
      return [...open].filter(({ isOpen }) => isOpen)
    },
    get accepted() {
      return accepted
    },
    apply(fault) {
      applyToNew(fault)
      applyToOpen(fault)
    },
    applyToOpen,
    applyToNew,
    async close() {
      const closed = once(server, 'close')
      server.close()
      applyToOpen('reset')
      await closed
    },
  }
}

/** Bytes of the client that are remembered. */
const remembered = 65_536

/** `A`, the type of a NotificationResponse. */
const notification = 65

class Connection implements ProxiedConnection {
  /** Resolves when both sockets are gone. */
  readonly ended: Promise<unknown>
  readonly #client: Socket
  readonly #server: Socket
  #fault: Fault = 'none'
  #sent = Buffer.alloc(0)

  constructor(client: Socket, { hostname, port }: URL, isPostgres: boolean) {
    const server = connect({ host: hostname, port: Number(port || 5432), allowHalfOpen: true, noDelay: true })
    this.#client = client
    this.#server = server
    this.ended = Promise.all([closeOf(client), closeOf(server)])
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on('error', () => {}) // `close` follows
      socket.on('close', (hadError) => this.#pass(() => (hadError ? reset(other) : other.destroySoon())))
    }
    client.on('data', (chunk: Buffer) => {
      this.#sent = Buffer.concat([this.#sent, chunk]).subarray(-remembered)
    })
    const read = isPostgres ? createMessageReader() : (chunk: Buffer) => [chunk]
    client.pipe(this.#channel((chunk) => chunk)).pipe(server)
    server
      .pipe(this.#channel((chunk) => Buffer.concat(read(chunk).filter((each) => this.#keeps(each)))))
      .pipe(client)
  }

  get isOpen(): boolean {
    return !this.#client.readableEnded && !this.#client.destroyed
  }

  apply(fault: Fault): void {
    if (fault === 'reset') {
      this.#fault = 'none'
      reset(this.#client)
      reset(this.#server)
    } else if (this.#fault !== 'silent') {
      this.#fault = fault
    }
  }

  hasSent(text: string): boolean {
    return this.#sent.includes(text)
  }

  #keeps(bytes: Buffer): boolean {
    return this.#fault !== 'no-notifications' || bytes[0] !== notification
  }

  /** Lost paths carry nothing, not even the end of a connection. */
  #pass(act: () => void): void {
    if (this.#fault !== 'silent') act()
  }

  #channel(filter: (chunk: Buffer) => Buffer): Transform {
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        const forward = (): void => {
          if (this.#fault === 'silent') done()
          else done(null, filter(chunk))
        }
        if (typeof this.#fault === 'object') setTimeout(forward, this.#fault.delay)
        else forward()
      },
      flush: (done) => this.#pass(() => done()),
    })
  }
}

/** While the end of a socket is being sent libuv refuses to reset it, and Node would leave it open. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}

function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()))
}
