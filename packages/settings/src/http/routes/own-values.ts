/** The caller's own settings (S 4.1 `/me`, decisions 21 and 23). */
import { ArgumentException } from '@fastify-modular/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { SettingScope } from '../../setting-definition.ts'
import { toSharedDto, toUserDto } from '../../reading/dto.ts'
import type { SettingState } from '../../memory/shared-values.ts'
import type { SettingsService } from '../../create-settings.ts'
import { requireSetting } from '../../write/entries.ts'
import type { WriteEntry } from '../../write/write.ts'
import { callerOf, requireUpdate } from '../access.ts'
import { rowCondition, toEtag, toPreconditionFailed } from '../conditional.ts'
import type { KeyRoute, OwnWriteRoute } from '../route-types.ts'
import { answer, originOf } from './values.ts'

/** Whether users need `Settings.Update` for their own values (decision 23). */
export type OwnWrites = 'permission' | 'authenticated'

export function createMyHandlers(
  { store, sharedValues, codec, states, write }: SettingsService,
  ownWrites: OwnWrites,
) {
  async function list(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const { id } = callerOf(request)
    const rows = new Map((await store.readUser(id)).map((row) => [row.key, row]))
    reply.header('cache-control', 'no-store')
    return states()
      .filter(isOwnable)
      .map((state) => ({
        ...toUserDto(state, id, rows.get(state.setting.definition.key), codec),
        inheritedValue: toSharedDto(state, SettingScope.Application).value,
      }))
  }

  async function put(request: FastifyRequest<OwnWriteRoute>, reply: FastifyReply): Promise<unknown> {
    const { key, value } = request.body
    return writeOwn(request, reply, key, { kind: 'set', value })
  }

  async function remove(request: FastifyRequest<KeyRoute>, reply: FastifyReply): Promise<unknown> {
    return writeOwn(request, reply, request.params.key, { kind: 'clear' })
  }

  async function writeOwn(
    request: FastifyRequest,
    reply: FastifyReply,
    key: string,
    change: WriteEntry['change'],
  ): Promise<unknown> {
    const caller = ownWrites === 'authenticated' ? callerOf(request) : requireUpdate(request)
    const state = requireSetting(sharedValues, key)
    if (!isOwnable(state)) throw new ArgumentException(`The setting "${key}" is not a user's own.`, 'key')
    const entry = {
      state,
      scope: SettingScope.User,
      userId: caller.id,
      change,
      expects: rowCondition(request),
    }
    const { revision, entries } = await write([entry], originOf(request), { onStale: toPreconditionFailed })
    const row = entries[0]?.after
    const etag = toEtag(change.kind === 'clear' ? revision : (row?.revision ?? 0))
    return answer(request, reply, etag, () => toUserDto(state, caller.id, row, codec))
  }

  return { list, put, remove }
}

function isOwnable({ setting }: SettingState): boolean {
  return setting.definition.scope === SettingScope.User
}
