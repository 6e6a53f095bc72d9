/** Who asks, as far as the pages care. */
import type { FindCaller } from '@fastify-modular/settings'
import type { FastifyInstance } from 'fastify'

export type Caller = Exclude<Awaited<ReturnType<FindCaller>>, null>

/** The option's function, or else the gate's decorator; undefined where nobody tells who asks. */
export function findCallerOf(app: FastifyInstance, option: FindCaller | undefined): FindCaller | undefined {
  if (option) return option
  if (!app.hasRequestDecorator('caller')) return undefined
  return (request) => request.getDecorator<Caller | null>('caller')
}

/** Whether to offer changes: the caller's grants of `Settings.Update`. The API decides for itself. */
export function mayUpdate(caller: Caller | null): boolean {
  if (caller === null) return false
  const grants = ['Settings.Update', 'Settings.*', '*']
  return caller.isAdmin === true || caller.permissions.some((granted) => grants.includes(granted))
}
