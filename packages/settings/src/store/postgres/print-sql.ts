/** The tables in PostgreSQL, and their statements as text. Without types of a driver: the entry point exports this. */
import { argumentProblems, refuseOptions } from '@fastify-modular/core/internal'
import { postgresOptions, type PostgresTableNames } from '../options.ts'
import { migrationsFrom, type Schema } from '../schema.ts'
import { type PostgresNames, postgresNames } from './names.ts'

/** Names are compared byte by byte (`collate "C"`), as SQLite does: that is what keys and ids mean, and it is fast. */
export function schemaOf({ values, history, meta, prefix }: PostgresNames): Schema {
  return {
    values,
    history,
    meta,
    name: (name) => prefix + name,
    types: { scope: 'smallint', name: 'text collate "C"', number: 'bigint', flag: 'boolean' },
    counted: {
      column: 'xid xid8 not null default pg_current_xact_id()',
      index: '(xid) include (scope, owner)',
    },
    ending: '',
    counters: ['revision', 'expired', 'written'],
  }
}

/**
 * The statements that `migrate: 'auto'` runs on an empty database, for applications that run them themselves. One
 * transaction.
 * @throws {FMOD_CORE_INVALID_OPTION}
 */
export function printSql(options: PostgresTableNames = {}): string {
  refuseOptions('printSql()', argumentProblems(postgresOptions, options, 'options'))
  const names = postgresNames(options)
  const place = names.schema === undefined ? '' : `create schema if not exists "${names.schema}";\n\n`
  return `begin;\n\n${place}${migrationsFrom(0, schemaOf(names)).join('\n')}\ncommit;\n`
}
