/** Where settings are kept: a SQLite file. */
import type { SettingsStore } from '@fastify-modular/settings'
import { sqlite } from '@fastify-modular/settings/sqlite'

export function createStore(env: NodeJS.ProcessEnv): SettingsStore {
  return sqlite({ file: env['DATABASE_FILE'] || 'data/settings.db' }) // makes the folder, too
}
