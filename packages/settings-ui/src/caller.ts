/** The caller of a request, as far as the pages need it. */
import type { Caller } from '@fastify-modular/core'
import type { FindCaller } from '@fastify-modular/settings'
import type { FastifyInstance } from 'fastify'

/** The option's function, or else the gate's decorator; undefined where neither is there. */
export function findCallerOf(app: FastifyInstance, option: FindCaller | undefined): FindCaller | undefined {
  if (option) return option
  if (!app.hasRequestDecorator('caller')) return undefined
  return (request) => request.getDecorator<Caller | null>('caller')
}
