/** A balancer as deployments have one: it looks whether instances are ready, and tries another one where a connection is refused. */
import { once } from 'node:events'
import { Agent, createServer, get, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { listen } from './free-port.ts'

export interface BalancerOptions {
  /** Where the instances listen on 127.0.0.1. */
  readonly ports: readonly number[]
  /** Where the balancer listens. @default a free port */
  readonly port?: number
  /** Ms between two looks at `/health/ready` of an instance. @default 1000 */
  readonly interval?: number
  /** Ms for which an idle connection to an instance is kept; less than instances answer after a signal to stop. @default 4000 */
  readonly keepIdle?: number
}

export interface Balancer {
  readonly url: string
  /** Ports of the instances that get requests. */
  readonly ready: readonly number[]
  /** Ends it and all connections. */
  close(): Promise<void>
}

/** Headers of one connection, which are not passed on. */
const hopByHop = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade'])

/** Starts the balancer. Resolves after a first look at the instances. */
export async function startBalancer(options: BalancerOptions): Promise<Balancer> {
  const { ports, port = 0, interval = 1000, keepIdle = 4000 } = options
  const agent = new Agent({ keepAlive: true, timeout: keepIdle })
  const ready = new Set<number>()
  const looking = new Set<number>()
  let turns = 0

  async function lookAt(each: number): Promise<void> {
    if (looking.has(each)) return
    looking.add(each)
    if (await isReady(each)) ready.add(each)
    else ready.delete(each)
    looking.delete(each)
  }
  const look = () => Promise.all(ports.map(lookAt))

  /** Takes the ready instances in turn. The Host header stays as it is: applications compare it with Origin. */
  function forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const [target] = [...ready].slice(turns++ % Math.max(ready.size, 1))
    if (target === undefined) return void outgoing.writeHead(503).end('no instance is ready')
    const { method, url: path } = incoming
    const headers = endToEnd(incoming.headers)
    const onward = request({ host: '127.0.0.1', port: target, agent, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, { ...endToEnd(answer.headers), 'x-instance': target })
      answer.pipe(outgoing)
    })
    // A refused connection has carried nothing: any request, whatever its method, may go to another instance.
    onward.once('socket', (socket) => {
      if (socket.connecting) socket.once('connect', () => incoming.pipe(onward))
      else incoming.pipe(onward)
    })
    onward.on('error', (error) => {
      if ('code' in error && error.code === 'ECONNREFUSED') {
        ready.delete(target)
        forward(incoming, outgoing)
      } else if (outgoing.headersSent) outgoing.destroy()
      else outgoing.writeHead(502).end(error.message)
    })
    outgoing.once('close', () => onward.destroy())
  }

  const server = createServer(forward)
  const url = `http://127.0.0.1:${await listen(server, port)}`
  await look()
  const timer = setInterval(() => void look(), interval)
  return {
    url,
    get ready() {
      return [...ready]
    },
    async close() {
      clearInterval(timer)
      agent.destroy()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function endToEnd(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.has(name)))
}

/** Ms after which an instance that is silent counts as gone; a slow one is not. */
const timeout = 10_000

/** Over a connection of its own, as balancers look. */
function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const look = get({ host: '127.0.0.1', port, path: '/health/ready', agent: false, timeout }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    })
    look.on('timeout', () => look.destroy())
    look.on('error', () => resolve(false))
  })
}
