/** One System or Application value, or many of them: read, resolved for the caller, written. */
import { type Caller, ForbiddenException, hasPermission } from '@fastify-modular/core'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SettingsService } from '../../create-settings.ts'
import { SettingScope, toEtag } from '../../setting-definition.ts'
import { bulkLimits } from '../../options.ts'
import { requirePlace } from '../../places.ts'
import { requireSetting, type Resolution, type SettingState } from '../../memory/shared-values.ts'
import { toStoredDto, toValueChange } from '../../reading/dto.ts'
import { readValue } from '../../reading/list.ts'
import { resolveWithin, unwrap } from '../../reading/reader.ts'
import { requireAdmin, updatePermission, visibleTo } from '../../visibility.ts'
import { isSecret } from '../../values/validate.ts'
import { toBulkEntries } from '../../write/bulk.ts'
import { type EntryOutcome, reset, type WriteEntry, type WriteOptions } from '../../write/write.ts'
import {
  callerOf,
  openRoute,
  refuseTooMany,
  refuseUserScope,
  requireUpdate,
  writeOptionsOf,
} from '../access.ts'
import { answerRepresentation, answerWritten, conditionOf, sendJson } from '../conditional.ts'
import type { RouteContext } from '../context.ts'
import { operation } from '../operation.ts'
import { nameConflicts } from '../people.ts'
import { reachFirst } from '../shared-lists.ts'
import { toMember } from './tenant.ts'
import {
  changeMembers,
  closed,
  ConfirmWithin,
  DryRun,
  Key,
  KeyParams,
  People,
  Revision,
  ScopeInput,
  ScopeQuery,
  Value,
  valueMembers,
  WrittenValue,
} from '../schemas.ts'
import { announceWindow } from './windows.ts'

export function addValueRoutes(context: RouteContext): void {
  addPublicRoute(context)
  addValueRoute(context)
  addResolvedRoute(context)
  addWriteRoutes(context)
  addBulkRoute(context)
}

function addPublicRoute({ app, service, sharedLists }: RouteContext): void {
  app.get(
    '/public',
    {
      ...operation({
        operationId: 'getPublicSettings',
        summary: 'The values of settings that are public',
        ok: Type.Record(Type.String(), Value),
        tag: 'compared',
      }),
      config: openRoute,
      preHandler: reachFirst(service, true),
    },
    (request, reply) => sharedLists.sendPublic(request, reply),
  )
}

function addValueRoute({ app, service, people, tenantOf, tenantWriter }: RouteContext): void {
  app.get(
    '/:key',
    operation({
      operationId: 'getSetting',
      summary: 'Get one setting in one scope',
      params: KeyParams,
      query: ScopeQuery,
      ok: Type.Object({ ...valueMembers, people: Type.Optional(People) }),
      tag: 'sent',
    }),
    async (request, reply) => {
      const { key } = request.params
      const { scope } = request.query
      const caller = callerOf(request)
      const writer = scope === SettingScope.Tenant ? await tenantWriter(request) : undefined
      const state = requireSetting(service.sharedValues, key)
      requirePlace(state.setting, scope)
      const within = scope === SettingScope.User ? (await tenantOf(request))?.id : undefined
      const value = await readValue(service, state, { scope, owner: writer?.id ?? caller.id }, within)
      reply.header('etag', toEtag(value?.version ?? 0, writer?.id))
      if (writer) return value && toMember(value, writer.member)
      const { definition } = state.setting
      const names = visibleTo(caller).record(definition, { scope }) && (await people([value?.updatedBy]))
      return { ...value, ...(names && { people: names }) }
    },
  )
}

function addResolvedRoute({ app, service, options, tenantOf }: RouteContext): void {
  const { resolvedSecrets = 'signed-in' } = options

  app.get(
    '/:key/resolved',
    operation({
      operationId: 'getResolvedSetting',
      summary: 'The value that holds for the caller: their own, or else the inherited one',
      params: KeyParams,
      ok: Type.Unknown({ description: 'The decoded value; null if there is none.' }),
    }),
    async (request, reply) => {
      const { key } = request.params
      const caller = callerOf(request)
      const state = requireSetting(service.sharedValues, key)
      const tenant = (await tenantOf(request))?.id
      const resolution = await resolveWithin(service, state, { userId: caller.id, tenant })
      if (isSecret(state.setting, resolution)) {
        requireSensitive(state, resolution, caller)
        request.log.info({ key, caller: caller.id }, 'sensitive setting was read')
      }
      // Fastify would send a string as it is, not as JSON.
      return sendJson(reply, JSON.stringify(unwrap(resolution)))
    },
  )

  /** Sensitive values are decoded: System ones are for administrators, others as the host decided. */
  function requireSensitive(state: SettingState, { source }: Resolution, caller: Caller): void {
    if (state.setting.definition.scope === SettingScope.System) return requireAdmin(caller)
    if (source === 'user') return
    // Its members share it, and none of them has to know it.
    if (source === 'tenant') throw new ForbiddenException('The value of this setting is not shown to you.')
    if (resolvedSecrets === 'signed-in') return
    if (resolvedSecrets === 'permission' && hasPermission(caller, updatePermission)) return
    throw new ForbiddenException('The value of this setting is not shown to you.')
  }
}

function addWriteRoutes({ app, service }: RouteContext): void {
  app.put(
    '/',
    {
      preValidation: refuseUserScope,
      ...operation({
        operationId: 'updateSetting',
        summary: 'Update one System or Application setting',
        checkedByHandler: updatePermission,
        query: Type.Object({ confirmWithin: ConfirmWithin }, closed),
        body: Type.Object({ key: Key, scope: ScopeInput, value: Value }, closed),
        written: WrittenValue,
      }),
    },
    (request, reply) => writeShared(request, reply, request.body, request.query),
  )

  app.delete(
    '/:key',
    {
      preValidation: refuseUserScope,
      ...operation({
        operationId: 'resetSetting',
        summary: 'Reset a System or Application setting to its default',
        checkedByHandler: updatePermission,
        params: KeyParams,
        query: ScopeQuery,
        written: WrittenValue,
      }),
    },
    (request, reply) => {
      const { key } = request.params
      return writeShared(request, reply, { key, scope: request.query.scope, ...reset })
    },
  )

  async function writeShared(
    request: FastifyRequest,
    reply: FastifyReply,
    { key, scope, ...wanted }: Pick<WriteEntry, 'key' | 'scope' | 'value' | 'isReset'>,
    { confirmWithin }: Pick<WriteOptions, 'confirmWithin'> = {},
  ): Promise<unknown> {
    const caller = requireUpdate(request, [scope])
    const state = requireSetting(service.sharedValues, key)
    requirePlace(state.setting, scope)
    const entry = { state, key, scope, owner: '', ...wanted, expects: conditionOf(request) }
    const options = { ...writeOptionsOf(request), confirmWithin }
    const { revision, entries, window } = await service.write([entry], options, { caller })
    announceWindow(reply, window)
    return answerWritten(request, reply, entries[0], (written) => toWrittenDto(service, written, revision))
  }
}

function addBulkRoute({ app, service, options, people }: RouteContext): void {
  const { bulkEntries, bodyBytes } = bulkLimits(options)
  app.put(
    '/bulk',
    {
      preValidation: refuseUserScope,
      bodyLimit: bodyBytes,
      ...operation({
        operationId: 'updateSettings',
        summary: 'Update many System and Application settings, all or nothing',
        checkedByHandler: updatePermission,
        query: Type.Object({ dryRun: DryRun, confirmWithin: ConfirmWithin }, closed),
        body: Type.Array(
          Type.Object(
            { key: Key, scope: ScopeInput, value: Value, version: Type.Optional(Revision) },
            closed,
          ),
        ),
        written: Type.Array(Type.Union([WrittenValue, Type.Object(changeMembers)])),
      }),
    },
    async (request, reply) => {
      const { body: updates, query } = request
      const { dryRun = false, confirmWithin } = query
      const { entries, unknown } = toBulkEntries(service.sharedValues, updates) // 400 for a repeated row
      const scopes = updates.map(({ scope }) => scope)
      const caller = requireUpdate(request, scopes)
      refuseTooMany('bulk', updates, bulkEntries)
      const control = { caller, isBulk: true, expects: conditionOf(request), unknown, dryRun }
      const writing = service.write(entries, { ...writeOptionsOf(request), confirmWithin }, control)
      const outcome = await nameConflicts(writing, people)
      announceWindow(reply, outcome.window)
      const etag = toEtag(outcome.revision)
      if (dryRun) {
        reply.header('etag', etag)
        return outcome.entries.map((each) => toValueChange(each, service.codec))
      }
      return answerRepresentation(request, reply, etag, () =>
        outcome.entries.map((each) => toWrittenDto(service, each, outcome.revision)),
      )
    },
  )
}

/** With the change set that Undo takes back; null where nothing changed. */
function toWrittenDto(service: SettingsService, written: EntryOutcome, revision: number) {
  return { ...toStoredDto(service, written), revision: written.kind === 'none' ? null : revision }
}
