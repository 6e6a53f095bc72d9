/**
 * @fastify-modular/core/internal/events: publishing in a transaction whose owner sends the notification. For the packages
 * of one release, like core/internal.
 */
export { publishQuietly } from './bus.ts'
export type { Waker } from './transport.ts'
