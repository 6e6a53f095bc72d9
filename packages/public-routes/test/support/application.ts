/** Applications behind the gate, for tests: a provider that believes a header, and handlers that leave a trace. */
import type { Caller } from '@fastify-modular/core'
import { publicRoutes, type AuthProvider, type PublicRoutesOptions } from '@fastify-modular/public-routes'
import Fastify, { type FastifyInstance, type FastifyRequest, type FastifyServerOptions } from 'fastify'
import type { Test } from 'tap'

/** The caller is named by the header `x-user`. */
export const headerProvider: AuthProvider = {
  authenticate: (request: FastifyRequest) => callerNamed(request.headers['x-user']),
}

export function callerNamed(name: unknown): Caller | null {
  return typeof name === 'string' ? { id: name } : null
}

/** An application with the gate registered, closed when the test ends. */
export async function gatedApp(
  t: Test,
  options: Partial<PublicRoutesOptions> = {},
  server: FastifyServerOptions = {},
): Promise<FastifyInstance> {
  const app = Fastify(server)
  t.teardown(() => app.close())
  await app.register(publicRoutes, { env: false, provider: headerProvider, ...options })
  return app
}

/** Remembers which handler ran for which request, also when the answer looks like a refusal. */
export class Sink {
  readonly #ran = new Map<string, string>()

  /** A handler that leaves its name, and what it was called with, in the answer. */
  handler(name: string) {
    return async (request: FastifyRequest) => {
      this.#ran.set(String(request.headers['x-number']), name)
      return { handler: name, caller: request.caller?.id ?? null }
    }
  }

  /** The handler that ran for a request that carried `x-number`. */
  ranFor(number: number | string): string | undefined {
    return this.#ran.get(String(number))
  }
}

/** The port of an application that listens on a free one. */
export async function listen(app: FastifyInstance): Promise<number> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  const address = app.server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** A router that takes many spellings for one path. */
export const lenientRouter = {
  ignoreTrailingSlash: true,
  ignoreDuplicateSlashes: true,
  caseSensitive: false,
  useSemicolonDelimiter: true,
}
