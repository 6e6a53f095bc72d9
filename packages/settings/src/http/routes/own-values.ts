/** `/me`: the caller's own values. */
import { ArgumentException } from '@fastify-modular/core'
import { safeRead } from '@fastify-modular/core/internal'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { SettingScope } from '../../setting-definition.ts'
import { isTenantSetting, isUserSetting, requireSetting } from '../../memory/shared-values.ts'
import { toStoredDto } from '../../reading/dto.ts'
import { inheritedBy } from '../../reading/list.ts'
import { updatePermission } from '../../visibility.ts'
import { reset, type WriteEntry } from '../../write/write.ts'
import { callerOf, requireUpdate, writeOptionsOf } from '../access.ts'
import { answerWritten, conditionOf } from '../conditional.ts'
import type { RouteContext } from '../context.ts'
import { operation } from '../operation.ts'
import { closed, DryRun, Key, KeyParams, SettingValue, Value, valueMembers } from '../schemas.ts'

/** A caller may name the scope, but only the one that it is. */
const OwnScope = Type.Union([Type.Literal(2), Type.String({ pattern: '^[Uu][Ss][Ee][Rr]$' })], {
  description: '2 or User',
})

export function addOwnValueRoutes(context: RouteContext): void {
  addOwnListRoute(context)
  addOwnWriteRoutes(context)
}

function addOwnListRoute({ app, service, sharedLists }: RouteContext): void {
  const { hasTenants } = service.registry
  app.get(
    '/me',
    operation({
      operationId: 'listMySettings',
      summary: "The caller's settings with what they inherit",
      ...(hasTenants && { query: Type.Object({ all: DryRun }, closed) }),
      ok: Type.Array(
        Type.Object({
          ...valueMembers,
          inheritedValue: Value,
          ...(hasTenants && { inheritedSource: valueMembers.source }),
        }),
      ),
      tag: 'compared',
    }),
    (request, reply) =>
      sharedLists.sendOwn(request, reply, (own) =>
        service
          .states()
          .filter((state) => isUserSetting(state) || (isAll(request) && isTenantSetting(state)))
          .map((state) => {
            const inherited = own.inherited(state)
            return {
              ...(isUserSetting(state) ? own.of(state) : inherited),
              inheritedValue: inherited.value,
              ...(hasTenants && { inheritedSource: inherited.source }),
              ...(!isUserSetting(state) && { updatedBy: null }),
            }
          }),
      ),
  )
}

/** Whether settings that have a value for each tenant, and none for each user, are wanted as well. */
function isAll({ query }: FastifyRequest): boolean {
  return safeRead(query, 'all') === true
}

function addOwnWriteRoutes({ app, service, tenantOf }: RouteContext): void {
  const { selfService } = service
  const checkedByHandler = selfService ? {} : { checkedByHandler: updatePermission }
  app.put(
    '/me',
    operation({
      operationId: 'updateMySetting',
      summary: "Update one of the caller's settings",
      ...checkedByHandler,
      body: Type.Object({ key: Key, value: Value, scope: Type.Optional(OwnScope) }, closed),
      written: SettingValue,
    }),
    (request, reply) => {
      const { key, value } = request.body
      return writeOwn(request, reply, { key, value })
    },
  )

  app.delete(
    '/me/:key',
    operation({
      operationId: 'resetMySetting',
      summary: "Clear one of the caller's settings",
      ...checkedByHandler,
      params: KeyParams,
      written: SettingValue,
    }),
    (request, reply) => writeOwn(request, reply, { key: request.params.key, ...reset }),
  )

  async function writeOwn(
    request: FastifyRequest,
    reply: FastifyReply,
    { key, ...wanted }: Pick<WriteEntry, 'key' | 'value' | 'isReset'>,
  ): Promise<unknown> {
    const { id: owner } = selfService ? callerOf(request) : requireUpdate(request)
    const state = requireSetting(service.sharedValues, key)
    if (!isUserSetting(state))
      throw new ArgumentException(`The setting "${key}" has no per-user values.`, 'key')
    const entry = { state, key, scope: SettingScope.User, owner, ...wanted, expects: conditionOf(request) }
    const tenant = (await tenantOf(request))?.id
    const { entries } = await service.write([entry], writeOptionsOf(request), { tenant })
    const above = await inheritedBy(service, entries[0], tenant)
    return answerWritten(request, reply, entries[0], (written) => toStoredDto(service, written, above))
  }
}
