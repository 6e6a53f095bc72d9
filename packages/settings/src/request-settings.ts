/** `request.settings`: the caller's values, loaded when first asked for. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { FindCaller } from './http/access.ts'
import type { UserReader } from './service/read/reader.ts'
import type { Settings } from './service/settings.ts'

/** Adds the decorator: `const settings = await request.settings`. The same promise for the whole request. */
export function decorateRequests(app: FastifyInstance, settings: Settings, findCaller: FindCaller): void {
  const readers = new WeakMap<FastifyRequest, Promise<UserReader>>()

  async function read(request: FastifyRequest): Promise<UserReader> {
    const caller = await findCaller(request)
    return settings.forUser(caller?.id ?? null)
  }

  app.decorateRequest('settings', {
    getter(this: FastifyRequest) {
      const reader = readers.get(this) ?? read(this)
      readers.set(this, reader)
      return reader
    },
  })
}
