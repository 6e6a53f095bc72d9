/** @fastify-modular/settings/client/internal: what settings-ui of the same version needs. Not for applications: it changes without notice. */
export { type Follower, followSettings } from './stream.ts'
export type { StreamedSetting } from '../streams/audience.ts'
