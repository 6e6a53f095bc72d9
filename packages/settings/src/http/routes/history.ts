/** What happened to settings, where their values come from, and how to restore an old one (decision 26b). */
import { NotFoundException } from '@fastify-modular/core'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { SettingsService } from '../../create-settings.ts'
import { SettingScope, toEtag } from '../../setting-definition.ts'
import type { StoredHistoryEntry } from '../../history/history.ts'
import { toSharedDto, toUserDto } from '../../reading/dto.ts'
import { isJson } from '../../values/json.ts'
import { dateTimePattern } from '../../values/validate.ts'
import { isUserSetting, requireFit, requireSetting, sharedScope } from '../../memory/shared-values.ts'
import { rowUser } from '../../memory/user-values.ts'
import { requireVisible, updatePermission } from '../../visibility.ts'
import { requireUpdate, writeOptionsOf } from '../access.ts'
import { answerRepresentation, conditionOf, fingerprint, sendJson } from '../conditional.ts'
import { operation } from '../operation.ts'
import {
  closed,
  decoded,
  Key,
  KeyParams,
  LockedBy,
  nullable,
  Revision,
  Scope,
  ScopeInput,
  ScopeText,
  type SettingsApp,
  SettingValue,
  Source,
  Value,
} from '../schemas.ts'

const text = nullable(Type.String())
const scopeMember = { scope: Type.Optional(ScopeText) }

/** Selects a page of history; members of a query. */
const page = {
  before: Type.Optional(
    decoded(
      Type.String({
        pattern: '^[0-9]{1,15}(:[0-9]{1,15}:[A-Za-z0-9_.-]{1,100})?$',
        description: 'a revision, or the next of a page',
      }),
      (before) => (before.includes(':') ? before : Number(before)),
    ),
  ),
  limit: Type.Optional(
    decoded(
      Type.String({
        pattern: '^([1-9][0-9]?|[1-4][0-9][0-9]|500)$',
        description: 'an integer from 1 to 500',
      }),
      Number,
    ),
  ),
}

/** Selects changes; members of a query. */
const selection = {
  group: Type.Optional(
    Type.String({ maxLength: 200, description: 'the group of a setting; empty for settings without one' }),
  ),
  actor: Type.Optional(Type.String({ maxLength: 255, description: 'the id of a caller' })),
  since: Type.Optional(
    Type.String({
      pattern: dateTimePattern,
      description: 'an ISO 8601 date-time, like 2025-01-31T14:30:00Z',
    }),
  ),
}

const entryMembers = {
  revision: Revision,
  key: Type.String(),
  scope: Scope,
  userId: text,
  oldValue: Value,
  newValue: Value,
  isOverridden: Type.Boolean(),
  origin: Type.String(),
  actor: text,
  note: text,
  requestId: text,
  at: Type.String(),
}
const ListedEntries = Type.Array(
  Type.Object({
    ...entryMembers,
    long: Type.Array(Type.Union([Type.Literal('oldValue'), Type.Literal('newValue')]), {
      description: 'values of more than 4 KiB, shown as { length, digest }',
    }),
  }),
)
const next = nullable(Type.String({ description: 'for the parameter before of the next page' }))

const layerMembers = { source: Source, value: Value, invalid: Type.Boolean() }
const Inspection = Type.Object({
  key: Type.String(),
  scope: Scope,
  module: Type.String(),
  ...layerMembers,
  lockedBy: LockedBy,
  layers: Type.Array(Type.Object({ ...layerMembers, isSet: Type.Boolean() })),
})

export function addHistoryRoutes(
  app: SettingsApp,
  { settings, history, sharedValues, codec, states }: SettingsService,
): void {
  app.get(
    '/:key/inspect',
    operation({
      operationId: 'inspectSetting',
      summary: 'Which layer supplies the value of a setting',
      documents: updatePermission,
      params: KeyParams,
      ok: Inspection,
    }),
    async (request, reply) => {
      const { key } = request.params
      const { id } = requireUpdate(request, [sharedValues.find(key)?.setting.definition.scope])
      requireSetting(sharedValues, key)
      return reply.header('cache-control', 'no-store').send(await settings.inspect(key, id))
    },
  )

  app.get(
    '/:key/history',
    operation({
      operationId: 'listSettingHistory',
      summary: 'The history of one setting, newest first',
      documents: updatePermission,
      params: KeyParams,
      query: Type.Object({ ...page, ...scopeMember }, closed),
      ok: Type.Object({ entries: ListedEntries, next }),
    }),
    async (request, reply) => {
      const { scope, ...paging } = request.query
      const selection = requireHistory(request, request.params.key, scope)
      const { entries, next } = await history.page({ ...selection, ...paging })
      const listed = member('entries', `[${entries.map(toListedJson).join(',')}]`)
      reply.header('cache-control', 'no-store')
      return sendJson(reply, `{${listed},${member('next', JSON.stringify(next))}}`)
    },
  )

  app.get(
    '/:key/history/:revision',
    operation({
      operationId: 'getSettingHistoryEntry',
      summary: 'One entry of the history of a setting, its values in full',
      documents: updatePermission,
      params: Type.Object({
        key: Key,
        revision: decoded(Type.String({ pattern: '^[0-9]{1,15}$', description: 'a revision' }), Number),
      }),
      query: Type.Object(scopeMember, closed),
      ok: Type.Object(entryMembers),
    }),
    async (request, reply) => {
      const { key, revision } = request.params
      const selection = requireHistory(request, key, request.query.scope)
      const { entries } = await history.page({ ...selection, revision, limit: 1 })
      const [found] = entries
      if (!found) throw new NotFoundException(`Revision of the setting "${key}"`, revision)
      return sendJson(reply.header('cache-control', 'no-store'), toWholeJson(found))
    },
  )

  app.get(
    '/changes',
    operation({
      operationId: 'listSettingChanges',
      summary: 'Changes of System and Application settings by revision, newest first',
      documents: updatePermission,
      query: Type.Object({ ...page, ...selection }, closed),
      ok: Type.Object({
        changes: Type.Array(
          Type.Object({ revision: Revision, at: Type.String(), actor: text, entries: ListedEntries }),
        ),
        next,
      }),
    }),
    async (request, reply) => {
      const { group, ...query } = request.query
      const filter = { ...query, ...keysOf(group), visibleTo: requireUpdate(request) }
      const { entries, next } = await history.page(filter)
      const changes = member('changes', `[${groupByRevision(entries).join(',')}]`)
      reply.header('cache-control', 'no-store')
      return sendJson(reply, `{${changes},${member('next', JSON.stringify(next))}}`)
    },
  )

  app.post(
    '/:key/rollback',
    operation({
      operationId: 'rollbackSetting',
      summary: 'Write the value of a revision, or the one that it replaced, as a new revision',
      documents: updatePermission,
      params: KeyParams,
      body: Type.Object(
        {
          scope: ScopeInput,
          revision: Revision,
          undo: Type.Optional(
            Type.Boolean({ description: 'true for what the revision replaced, false for what it wrote' }),
          ),
          note: Type.Optional(Type.String({ maxLength: 500, description: 'text of at most 500 characters' })),
        },
        closed,
      ),
      written: SettingValue,
    }),
    async (request, reply) => {
      const { key } = request.params
      const { scope, revision, undo = false, note = null } = request.body
      const { id } = requireUpdate(request, [scope, sharedValues.find(key)?.setting.definition.scope])
      const state = requireSetting(sharedValues, key)
      if (scope !== SettingScope.User || !isUserSetting(state)) requireFit(state, scope)
      const target = { key, scope, revision, undo, userId: rowUser(scope, id) }
      const options = { ...writeOptionsOf(request), origin: 'rollback', note }
      const { entries } = await history.rollback(target, options, conditionOf(request))
      const row = entries[0]?.after
      return answerRepresentation(request, reply, toEtag(row?.revision ?? 0), () => {
        const state = sharedValues.require(key)
        return scope === SettingScope.User
          ? toUserDto(state, { userId: id, row, codec })
          : toSharedDto(state, scope)
      })
    },
  )

  function keysOf(group: string | undefined) {
    if (group === undefined) return {}
    const definitions = states().map(({ setting }) => setting.definition)
    return { keys: definitions.filter((each) => (each.group ?? '') === group).map(({ key }) => key) }
  }

  /**
   * Selects the history of one setting, in the scope that the request names, or else that of its shared values.
   * @throws {ForbiddenException} the caller may not read it
   */
  function requireHistory(request: FastifyRequest, key: string, named: SettingScope | undefined) {
    const caller = requireUpdate(request)
    requireVisible(caller, sharedValues.find(key)?.setting.definition, { scope: named })
    const scope = named ?? sharedScope(requireSetting(sharedValues, key))
    // User rows are their owner's: the user id is always the caller's (decision 26b).
    return { key, scope, visibleTo: caller, ...(scope === SettingScope.User && { userId: caller.id }) }
  }
}

/** A page may begin and end within a revision. */
function groupByRevision(entries: readonly StoredHistoryEntry[]): readonly string[] {
  const groups = new Map<number, StoredHistoryEntry[]>()
  for (const entry of entries) {
    const group = groups.get(entry.revision) ?? []
    groups.set(entry.revision, group)
    group.push(entry)
  }
  return Array.from(groups, ([revision, group]) => {
    const { at, actor } = group[0] ?? {}
    const head = JSON.stringify({ revision, at, actor }).slice(0, -1)
    return `${head},${member('entries', `[${group.map(toListedJson).join(',')}]`)}}`
  })
}

/** Bytes of a stored value up to which lists show it. */
const shownBytes = 4096

/** An entry of a list; `long` names the values that are `{ length, digest }` in place of themselves. */
function toListedJson(entry: StoredHistoryEntry): string {
  const [oldValue, newValue] = [toShown(entry.oldText), toShown(entry.newText)]
  const long = [...(oldValue.isLong ? ['oldValue'] : []), ...(newValue.isLong ? ['newValue'] : [])]
  return splice(entry, oldValue.json, newValue.json, { long })
}

/** An entry with its values whole, however long. */
function toWholeJson(entry: StoredHistoryEntry): string {
  return splice(entry, toJson(entry.oldText), toJson(entry.newText), {})
}

/** A member of a JSON object whose value is JSON text. */
function member(name: string, json: string): string {
  return `${JSON.stringify(name)}:${json}`
}

function splice(entry: StoredHistoryEntry, oldValue: string, newValue: string, more: object): string {
  const { oldText: _old, newText: _new, ...plain } = entry
  const head = JSON.stringify({ ...plain, ...more }).slice(0, -1)
  return `${head},${member('oldValue', oldValue)},${member('newValue', newValue)}}`
}

function toShown(text: string | null): { readonly json: string; readonly isLong: boolean } {
  const length = text === null ? 0 : Buffer.byteLength(text)
  if (text === null || length <= shownBytes) return { json: toJson(text), isLong: false }
  return { json: JSON.stringify({ length, digest: fingerprint(text) }), isLong: true }
}

/** A row that another program wrote into the database must not break the answer. */
function toJson(text: string | null): string {
  return text !== null && isJson(text) ? text : 'null'
}
