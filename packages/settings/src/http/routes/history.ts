/** What happened to settings, and where their values come from. */
import { Type } from '@sinclair/typebox'
import { type HistoryEntry, readHistory } from '../../history/history.ts'
import { requireSetting, sharedScope } from '../../memory/shared-values.ts'
import { selectStates } from '../../reading/list.ts'
import { SettingScope } from '../../setting-definition.ts'
import { requirePlace } from '../../places.ts'
import { dateTimePattern } from '../../values/validate.ts'
import { requireVisible, updatePermission } from '../../visibility.ts'
import { callerOf, requireUpdate } from '../access.ts'
import type { RouteContext } from '../context.ts'
import { operation } from '../operation.ts'
import {
  closed,
  decoded,
  Group,
  HistoryEntries,
  KeyParams,
  LockedBy,
  nullable,
  People,
  Revision,
  Scope,
  ScopeText,
  Source,
  Value,
} from '../schemas.ts'
import { listOpen } from './windows.ts'

const text = nullable(Type.String())

/** Selects a page of history; members of a query. */
const page = {
  before: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,15}:[0-9]{1,15}:[A-Za-z0-9_.-]{1,100}$',
      description: 'the next of a page',
    }),
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

/** Selects the changes that wait to be kept, all of them; other members do not count then. */
const Open = Type.String({ pattern: '^open$', description: 'open' })

/** Selects changes; members of a query. */
const selection = {
  group: Group,
  actor: Type.Optional(Type.String({ maxLength: 255, description: 'the id of a caller' })),
  since: Type.Optional(
    Type.String({
      pattern: dateTimePattern,
      description: 'an ISO 8601 date-time, like 2025-01-31T14:30:00Z',
    }),
  ),
}

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

export function addHistoryRoutes(context: RouteContext): void {
  const { app, service, tenantOf } = context
  const { settings, sharedValues } = service
  app.get(
    '/:key/inspect',
    operation({
      operationId: 'inspectSetting',
      summary: 'Which layer supplies the value of a setting',
      checkedByHandler: updatePermission,
      params: KeyParams,
      ok: Inspection,
    }),
    async (request) => {
      const { key } = request.params
      const { id } = requireUpdate(request, [sharedValues.find(key)?.setting.definition.scope])
      requireSetting(sharedValues, key)
      return settings.inspect(key, id, (await tenantOf(request))?.id)
    },
  )
  addHistoryRoute(context)
  addChangesRoute(context)
}

function addHistoryRoute({ app, service, people, tenantWriter }: RouteContext): void {
  const { sharedValues } = service
  app.get(
    '/:key/history',
    operation({
      operationId: 'listSettingHistory',
      summary: 'The history of one setting, newest first',
      checkedByHandler: updatePermission,
      params: KeyParams,
      query: Type.Object({ ...page, scope: Type.Optional(ScopeText) }, closed),
      ok: Type.Object({ entries: HistoryEntries, next, people: People }),
    }),
    async (request) => {
      const { key } = request.params
      const { scope: named, ...paging } = request.query
      const caller = callerOf(request)
      const tenant = named === SettingScope.Tenant ? await tenantWriter(request) : undefined
      // User rows are their owner's: the user id is always the caller's (decision 26b).
      const owner = named === SettingScope.User ? { userId: caller.id } : {}
      const definition = sharedValues.find(key)?.setting.definition
      if (!tenant) requireVisible(caller, definition, { scope: named, ...owner }, service)
      const state = requireSetting(sharedValues, key)
      if (tenant) requirePlace(state.setting, SettingScope.Tenant)
      const whose = tenant
        ? { tenant: tenant.id }
        : { scope: named ?? sharedScope(state), ...owner, visibleTo: caller }
      const found = await readHistory(service, { key, ...whose, ...paging })
      const entries = tenant ? found.entries.map(toMemberEntry) : found.entries
      return { entries, next: found.next, people: await people(entries.map(({ actor }) => actor)) }
    },
  )
}

/** Who wrote it in process, or from outside, has no name for the members of the tenant. */
function toMemberEntry(entry: HistoryEntry): HistoryEntry {
  return entry.origin === 'tenant' ? entry : { ...entry, actor: null, note: null, requestId: null }
}

function addChangesRoute({ app, service, people }: RouteContext): void {
  app.get(
    '/changes',
    operation({
      operationId: 'listSettingChanges',
      summary: 'Changes of System and Application settings by revision, newest first',
      checkedByHandler: updatePermission,
      query: Type.Object({ ...page, ...selection, state: Type.Optional(Open) }, closed),
      ok: Type.Object({
        changes: Type.Array(
          Type.Object({
            revision: Revision,
            at: Type.String(),
            actor: text,
            entries: HistoryEntries,
            state: Type.Optional(Type.String()),
            due: Type.Optional(text),
            hidden: Type.Optional(Type.Integer({ description: 'how many entries the caller may not see' })),
          }),
        ),
        next,
        people: People,
        now: Type.Optional(
          Type.String({ description: 'with state: the time of the clock by which changes are due' }),
        ),
      }),
    }),
    async (request) => {
      const { group, state, ...query } = request.query
      if (state !== undefined) return listOpen({ service, people }, requireUpdate(request))
      const keys = selectStates(service.states(), group).map(({ setting }) => setting.definition.key)
      const filter = { ...query, ...(group !== undefined && { keys }), visibleTo: callerOf(request) }
      const { entries, next } = await readHistory(service, filter)
      const names = await people(entries.map(({ actor }) => actor))
      return { changes: groupByRevision(entries), next, people: names }
    },
  )
}

/** A page may begin and end within a revision. */
function groupByRevision(entries: readonly HistoryEntry[]) {
  const groups = new Map<number, HistoryEntry[]>()
  for (const entry of entries) {
    const group = groups.get(entry.revision) ?? []
    groups.set(entry.revision, group)
    group.push(entry)
  }
  return Array.from(groups, ([revision, group]) => {
    const { at, actor } = group[0] ?? {}
    return { revision, at, actor, entries: group }
  })
}
