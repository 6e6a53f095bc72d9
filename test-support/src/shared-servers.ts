/** Servers that the files of a test run share: each starts when the first file asks for it. */
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { listen } from './free-port.ts'

/** A server that runs; files connect to its URL. */
export interface SharedServer {
  readonly url: string
  /** Settles when it has ended by itself or was killed: the next file that asks gets another. */
  readonly ended?: Promise<unknown>
  readonly stop: () => Promise<void>
}

/** The offer of a run. */
export interface SharedServers {
  /** Where files ask; for `TEST_SERVERS` in their environment. */
  readonly address: string
  /** Stops those that were started. */
  readonly stop: () => Promise<void>
}

/** Offers servers by their names to the processes that learn the address. */
export async function offerServers(
  starts: Readonly<Record<string, () => Promise<SharedServer>>>,
): Promise<SharedServers> {
  const running = new Map<string, Promise<SharedServer>>()
  const secret = randomBytes(16).toString('hex')
  const run = (name: string, start: () => Promise<SharedServer>): Promise<SharedServer> => {
    const server = start()
    running.set(name, server)
    void server.then(
      ({ ended }) => ended?.finally(() => running.delete(name)),
      () => {}, // those who asked get the error
    )
    return server
  }
  const find = async (url: string): Promise<string | undefined> => {
    const [, given, name = ''] = url.split('/')
    const start = given === secret ? starts[name] : undefined
    if (start === undefined) return undefined
    const server = running.get(name) ?? run(name, start)
    return (await server).url
  }
  const door = createServer(({ url = '' }, response) => {
    find(url).then(
      (found) => response.writeHead(found === undefined ? 404 : 200).end(found),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  const address = `http://127.0.0.1:${await listen(door)}/${secret}`
  return {
    address,
    stop: async () => {
      door.close()
      door.closeAllConnections()
      const started = await Promise.allSettled(running.values())
      const servers = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
      await Promise.all(servers.map(({ stop }) => stop()))
    },
  }
}

/** Returns the URL of a server of this run, or undefined where a file runs by itself. @throws {Error} when it does not start */
export async function sharedServer(name: string): Promise<string | undefined> {
  const address = process.env['TEST_SERVERS']
  if (address === undefined) return undefined
  const answer = await fetch(`${address}/${name}`)
  const text = await answer.text()
  if (!answer.ok) throw new Error(`The ${name} of this run did not start: ${text}`)
  return text
}
