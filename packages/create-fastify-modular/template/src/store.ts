/** Where settings are kept: a SQLite file. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { SettingsStore } from '@fastify-modular/settings'
import { sqlite } from '@fastify-modular/settings/sqlite'

export function createStore(env: NodeJS.ProcessEnv): SettingsStore {
  const file = env['DATABASE_FILE'] || 'data/settings.db'
  mkdirSync(dirname(file), { recursive: true })
  return sqlite({ file })
}
