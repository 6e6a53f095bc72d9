/** The tables in SQLite, and their statements as text. Without types of a driver: the entry point exports this. */
import { argumentProblems, refuseOptions } from '@fastify-modular/core/internal'
import { sqliteOptions } from '../options.ts'
import { migrationsFrom, type Schema } from '../schema.ts'

/** The schema under a prefix, which is a checked identifier or empty. */
export function schemaOf(prefix: string): Schema {
  const name = (name: string): string => prefix + name
  return {
    values: name('settings_value'),
    history: name('settings_history'),
    meta: name('settings_meta'),
    name,
    types: { scope: 'integer', name: 'text', number: 'integer', flag: 'integer' },
    counted: { column: 'seq integer not null default 0', index: '(seq, scope, owner)' },
    ending: ' without rowid, strict',
    counters: ['revision', 'expired', 'written', 'owned'],
  }
}

/**
 * The statements that `migrate: 'auto'` runs on an empty database, for applications that run them themselves. One
 * transaction.
 * @throws {FMOD_CORE_INVALID_OPTION}
 */
export function printSql(options: { readonly tablePrefix?: string } = {}): string {
  refuseOptions('printSql()', argumentProblems(sqliteOptions, options, 'options'))
  return `begin immediate;\n\n${migrationsFrom(0, schemaOf(options.tablePrefix ?? '')).join('\n')}\ncommit;\n`
}
