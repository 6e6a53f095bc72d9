/** The stores with their insides, which the published types hide. */
import { memoryStore as publicMemoryStore } from '@fastify-modular/settings'
import { postgres as publicPostgres } from '@fastify-modular/settings/postgres'
import { sqlite as publicSqlite } from '@fastify-modular/settings/sqlite'
import { portOf, type StorePort } from '#src/store/store.js'

export const memoryStore = (): StorePort => portOf(publicMemoryStore())

export const sqlite = (...given: Parameters<typeof publicSqlite>): StorePort => portOf(publicSqlite(...given))

export const postgres = (...given: Parameters<typeof publicPostgres>): StorePort =>
  portOf(publicPostgres(...given))
