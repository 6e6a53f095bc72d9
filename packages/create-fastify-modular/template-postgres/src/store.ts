/** Where settings are kept: a PostgreSQL database. */
import type { SettingsStore } from '@fastify-modular/settings'
import { postgres } from '@fastify-modular/settings/postgres'

/** @throws {Error} DATABASE_URL is not set */
export function createStore(env: NodeJS.ProcessEnv): SettingsStore {
  const connectionString = env['DATABASE_URL']
  if (!connectionString) {
    throw new Error('Set DATABASE_URL, for example to postgres://user:password@127.0.0.1:5432/my_app')
  }
  return postgres({ connectionString })
}
