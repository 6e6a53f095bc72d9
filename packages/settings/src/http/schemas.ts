/** What the settings routes take and answer; also their OpenAPI description. */
import { type TSchema, Type } from '@sinclair/typebox'
import { definitionSchema } from '../definitions/definition-schema.ts'
import { type JsonValue, SettingScope } from '../setting-definition.ts'

const names = Object.keys(SettingScope).map((name) => name.toLowerCase())
const anyCase = (name: string): string => name.replaceAll(/./g, (char) => `[${char}${char.toUpperCase()}]`)
const pattern = names.map(anyCase).join('|')

/** A scope in a body. */
const ScopeInput = Type.Union(
  [Type.Integer({ minimum: 0, maximum: 2 }), Type.String({ pattern: `^(${pattern})$` })],
  { description: '0, 1 or 2, or System, Application or User' },
)

/** A scope in a query string. */
const ScopeText = Type.String({
  pattern: `^([012]|${pattern})$`,
  description: '0, 1 or 2, or System, Application or User',
})

/** The scope of an input that its schema would accept; undefined for anything else. */
export function parseScope(input: unknown): SettingScope | undefined {
  // Some inputs come before their schema: text cannot be made of every object.
  if (typeof input !== 'string' && typeof input !== 'number') return undefined
  const name = String(input).toLowerCase()
  const value = /^[012]$/.test(name) ? Number(name) : names.indexOf(name)
  return value === 0 || value === 1 || value === 2 ? value : undefined
}

const closed = { additionalProperties: false }
const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const Value = Type.Unsafe<JsonValue>(Type.Unknown({ description: 'any JSON value' }))
const Key = Type.String({ description: 'the key of a setting, such as mail.port' })
const Scope = Type.Integer({ minimum: 0, maximum: 2, description: '0 System, 1 Application, 2 User' })
const Revision = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER, // PostgreSQL refuses what is no bigint
  description: 'a revision, 0 or greater',
})
const Keys = Type.Array(Type.String())

export const KeyParams = Type.Object({ key: Key })
/** Words to find, and a tag. */
const search = {
  q: Type.Optional(Type.String({ maxLength: 100, description: 'text of at most 100 characters' })),
  tag: Type.Optional(Type.String({ maxLength: 50, description: 'text of at most 50 characters' })),
}
export const ListQuery = Type.Object(
  {
    scope: Type.Optional(ScopeText),
    group: Type.Optional(Type.String()),
    ...search,
  },
  closed,
)
export const NoQuery = Type.Object({}, closed)
export const DefinitionsQuery = Type.Object(search, closed)
export const ScopeQuery = Type.Object({ scope: ScopeText }, closed)
// A misspelt dryRun would write.
export const BulkQuery = Type.Object(
  {
    dryRun: Type.Optional(Type.String({ pattern: '^(true|false)$', description: 'true or false' })),
  },
  closed,
)

export const WriteBody = Type.Object({ key: Key, scope: ScopeInput, value: Value }, closed)
export const BulkBody = Type.Array(
  Type.Object({ key: Key, scope: ScopeInput, value: Value, version: Type.Optional(Revision) }, closed),
)
const OwnScope = Type.Union([Type.Literal(2), Type.String({ pattern: '^[Uu][Ss][Ee][Rr]$' })], {
  description: '2 or User',
})
export const OwnBody = Type.Object({ key: Key, value: Value, scope: Type.Optional(OwnScope) }, closed)

/** S 2.4, decision 15. */
const valueMembers = {
  key: Type.String(),
  scope: Scope,
  value: Value,
  isOverridden: Type.Boolean({ description: 'whether a value is stored' }),
  source: Type.String({ description: 'locked, user, application, system or default' }),
  locked: Type.Boolean(),
  version: Revision,
  userId: nullable(Type.String()),
  updatedAt: nullable(Type.String({ description: 'ISO 8601, UTC' })),
  updatedBy: nullable(Type.String()),
}
export const SettingValue = Type.Object(valueMembers)
export const SettingValues = Type.Array(SettingValue)
export const OwnValues = Type.Array(Type.Object({ ...valueMembers, inheritedValue: Value }))

/** S 2.1. */
export const Definitions = Type.Array(
  Type.Object({
    ...definitionSchema.properties,
    groupName: nullable(Type.String({ description: 'what to show for the group' })),
    valueSchema: Type.Unknown({ description: 'The JSON Schema of its values.' }),
  }),
)
export const ResolvedValue = Type.Unknown({ description: 'The decoded value; null if there is none.' })
export const PublicValues = Type.Record(Type.String(), Value)
/** The values written, or with `dryRun` what would change. */
export const BulkAnswer = Type.Array(
  Type.Union([
    SettingValue,
    Type.Object({
      key: Type.String(),
      scope: Scope,
      change: Type.String({ description: 'create, update, delete or none' }),
      oldValue: Value,
      newValue: Value,
    }),
  ]),
)

const page = {
  before: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,15}(:[012]:[A-Za-z0-9_.-]{1,100})?$',
      description: 'a revision, or the next of a page',
    }),
  ),
  limit: Type.Optional(
    Type.String({ pattern: '^([1-9][0-9]?|[1-4][0-9][0-9]|500)$', description: 'an integer from 1 to 500' }),
  ),
}
export const PageQuery = Type.Object(page, closed)
export const HistoryQuery = Type.Object({ ...page, scope: Type.Optional(ScopeText) }, closed)
export const HistoryEntryParams = Type.Object({
  key: Key,
  revision: Type.String({ pattern: '^[0-9]{1,15}$', description: 'a revision' }),
})
export const HistoryEntryQuery = Type.Object({ scope: Type.Optional(ScopeText) }, closed)
const entryMembers = {
  revision: Revision,
  key: Type.String(),
  scope: Scope,
  userId: nullable(Type.String()),
  oldValue: Value,
  newValue: Value,
  isOverridden: Type.Boolean(),
  origin: Type.String(),
  actor: nullable(Type.String()),
  note: nullable(Type.String()),
  requestId: nullable(Type.String()),
  at: Type.String(),
}
export const HistoryEntry = Type.Object(entryMembers)
const ListedEntries = Type.Array(
  Type.Object({
    ...entryMembers,
    long: Type.Array(Type.Union([Type.Literal('oldValue'), Type.Literal('newValue')]), {
      description: 'values of more than 4 KiB, shown as { length, digest }',
    }),
  }),
)
const Next = nullable(Type.String({ description: 'for the parameter before of the next page' }))
export const HistoryPage = Type.Object({ entries: ListedEntries, next: Next })
export const ChangesPage = Type.Object({
  changes: Type.Array(
    Type.Object({
      revision: Revision,
      at: Type.String(),
      actor: nullable(Type.String()),
      entries: ListedEntries,
    }),
  ),
  next: Next,
})
const Note = Type.Optional(Type.String({ maxLength: 500, description: 'text of at most 500 characters' }))
export const RollbackBody = Type.Object({ scope: ScopeInput, revision: Revision, note: Note }, closed)

export const ExportFile = Type.Object({
  format: Type.Literal(1),
  settings: Type.Array(Type.Object({ key: Type.String(), scope: Scope, value: Value })),
  omitted: Keys,
})
export const ImportBody = Type.Object(
  {
    format: Type.Literal(1, { description: 'the format 1' }),
    settings: Type.Array(Type.Object({ key: Key, scope: ScopeInput, value: Value }, closed)),
    omitted: Type.Optional(Keys),
  },
  closed,
)
export const ImportQuery = Type.Object(
  {
    mode: Type.Optional(Type.String({ pattern: '^(merge|replace)$', description: 'merge or replace' })),
    dryRun: BulkQuery.properties.dryRun,
    revision: Type.Optional(
      Type.String({ pattern: '^[0-9]{1,15}$', description: 'the revision of a dry run' }),
    ),
  },
  closed,
)
export const ImportResult = Type.Object({
  revision: Revision,
  create: Keys,
  update: Keys,
  delete: Keys,
  unchanged: Keys,
  unknown: Keys,
  kept: Keys,
  dryRun: Type.Boolean(),
})
export const Inspection = Type.Object({
  key: Type.String(),
  scope: Scope,
  module: Type.String(),
  value: Value,
  source: valueMembers.source,
  lockedBy: nullable(Type.String({ description: 'option or environment' })),
  invalid: Type.Boolean(),
  layers: Type.Array(
    Type.Object({
      source: valueMembers.source,
      value: Value,
      isSet: Type.Boolean(),
      invalid: Type.Boolean(),
    }),
  ),
})

/** RFC 9457. */
export const Problem = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    code: Type.String(),
    instance: Type.Optional(Type.String()),
    requestId: Type.Optional(Type.String()), // an answer to a URL that cannot be read has none
    errors: Type.Optional(Type.Record(Type.String(), Type.Array(Type.String()))),
  },
  { additionalProperties: true },
)
