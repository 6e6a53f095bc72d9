/** `/me`: the caller's own values. */
import { ArgumentException } from '@fastify-modular/core'
import { addVary } from '@fastify-modular/core/internal'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SettingsService } from '../../create-settings.ts'
import { SettingScope, toEtag } from '../../setting-definition.ts'
import { isUserSetting, requireSetting } from '../../memory/shared-values.ts'
import { toSharedDto, toUserDto } from '../../reading/dto.ts'
import { readOwnValues } from '../../reading/list.ts'
import { updatePermission } from '../../visibility.ts'
import { toPreconditionFailed, type WriteEntry } from '../../write/write.ts'
import { callerOf, requireUpdate, writeOptionsOf } from '../access.ts'
import { answerRepresentation, conditionOf, sendUnlessUnchanged } from '../conditional.ts'
import { operation } from '../operation.ts'
import { closed, Key, KeyParams, type SettingsApp, SettingValue, Value, valueMembers } from '../schemas.ts'
import type { SharedLists } from './list.ts'

/** A caller may name the scope, but only the one that it is. */
const OwnScope = Type.Union([Type.Literal(2), Type.String({ pattern: '^[Uu][Ss][Ee][Rr]$' })], {
  description: '2 or User',
})

interface OwnValueRoutesOptions {
  readonly sharedLists: SharedLists
  readonly selfService: boolean
}

export function addOwnValueRoutes(
  app: SettingsApp,
  service: SettingsService,
  { sharedLists, selfService }: OwnValueRoutesOptions,
): void {
  addOwnListRoute(app, service, sharedLists)
  addOwnWriteRoutes(app, service, selfService)
}

function addOwnListRoute(app: SettingsApp, service: SettingsService, sharedLists: SharedLists): void {
  const { states } = service
  app.get(
    '/me',
    operation({
      operationId: 'listMySettings',
      summary: "The caller's settings with what they inherit",
      ok: Type.Array(Type.Object({ ...valueMembers, inheritedValue: Value })),
      tag: 'compared',
    }),
    async (request, reply) => {
      const { id } = callerOf(request)
      const own = await readOwnValues(service, id)
      reply.header('cache-control', 'private, no-cache')
      addVary(reply, 'Cookie, Authorization')
      return sendUnlessUnchanged(request, reply, sharedLists.ownTag(own), () =>
        Buffer.from(
          JSON.stringify(
            states()
              .filter(isUserSetting)
              .map((state) => ({
                ...own.of(state),
                inheritedValue: toSharedDto(state, SettingScope.Application).value,
              })),
          ),
        ),
      )
    },
  )
}

function addOwnWriteRoutes(
  app: SettingsApp,
  { sharedValues, codec, write }: SettingsService,
  selfService: boolean,
): void {
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
    async (request, reply) => {
      const { key, value } = request.body
      return writeOwn(request, reply, key, { kind: 'set', value })
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
    async (request, reply) => writeOwn(request, reply, request.params.key, { kind: 'clear' }),
  )

  async function writeOwn(
    request: FastifyRequest,
    reply: FastifyReply,
    key: string,
    change: WriteEntry['change'],
  ): Promise<unknown> {
    const { id } = selfService ? callerOf(request) : requireUpdate(request)
    const state = requireSetting(sharedValues, key)
    if (!isUserSetting(state))
      throw new ArgumentException(`The setting "${key}" has no per-user values.`, 'key')
    const entry = { state, scope: SettingScope.User, userId: id, change, expects: conditionOf(request) }
    const { entries } = await write([entry], writeOptionsOf(request), {
      onStale: toPreconditionFailed,
    })
    const row = entries[0]?.after
    return answerRepresentation(request, reply, toEtag(row?.revision ?? 0), () =>
      toUserDto(state, { userId: id, row, codec }),
    )
  }
}
