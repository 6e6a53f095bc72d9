/** The props that every page receives. */
import { type Caller, hasPermission } from '@fastify-modular/core'
import type { FastifyRequest } from 'fastify'
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
export async function readSharedProps(request: FastifyRequest): Promise<SharedProps> {
  return { app: await readLook(request), user: request.caller && toUser(request.caller) }
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
