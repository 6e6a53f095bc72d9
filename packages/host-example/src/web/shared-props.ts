/** The props that every page receives. */
import { type Caller, hasPermission } from '@fastify-modular/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Look, readLook } from './look.ts'

/** A caller, as pages show it. */
export interface User {
  readonly id: string
  readonly name: string
  readonly isAdmin: boolean
  readonly canUpdateSettings: boolean
}

export interface SharedProps {
  readonly app: Look
  /** Null for anonymous callers. */
  readonly user: User | null
  readonly [prop: string]: unknown
}

/** The shared props of a request; settings apply to the next page as soon as they change. */
export function createSharedProps(
  app: FastifyInstance,
): (request: Pick<FastifyRequest, 'caller'>) => Promise<SharedProps> {
  return async ({ caller }) => ({ app: await readLook(app.settings, caller), user: caller && toUser(caller) })
}

/** What pages know of a caller. */
export function toUser(caller: Caller): User {
  return {
    id: caller.id,
    name: caller.name ?? caller.id,
    isAdmin: caller.isAdmin === true,
    canUpdateSettings: hasPermission(caller, 'Settings.Update'),
  }
}
