/** The caller's own settings (S 4.1 `/me`, decisions 21 and 23). */
import { ArgumentException } from '@fastify-modular/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { SettingScope } from '../../setting-definition.ts'
import { toSharedDto, toUserDto } from '../../service/read/dto.ts'
import type { Cell } from '../../service/read/snapshot.ts'
import type { SettingsService } from '../../service/service.ts'
import { requireSetting } from '../../service/write/entries.ts'
import type { WriteEntry } from '../../service/write/write.ts'
import { callerOf, requireUpdate } from '../access.ts'
import { rowCondition, toEtag, toPreconditionFailed } from '../caching/preconditions.ts'
import type { KeyRoute, OwnWriteRoute } from '../route-types.ts'
import { answer, originOf } from './write-handlers.ts'

/** Whether users need `Settings.Update` for their own values (decision 23). */
export type OwnWrites = 'permission' | 'authenticated'

export function createMyHandlers(
  { store, snapshot, codec, cells, write }: SettingsService,
  ownWrites: OwnWrites,
) {
  async function list(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const { id } = callerOf(request)
    const rows = new Map((await store.readUser(id)).map((row) => [row.key, row]))
    reply.header('cache-control', 'no-store')
    return cells()
      .filter(isOwnable)
      .map((cell) => ({
        ...toUserDto(cell, id, rows.get(cell.setting.definition.key), codec),
        inheritedValue: toSharedDto(cell, SettingScope.Application).value,
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
    const cell = requireSetting(snapshot, key)
    if (!isOwnable(cell)) throw new ArgumentException(`The setting "${key}" is not a user's own.`, 'key')
    const entry = {
      cell,
      scope: SettingScope.User,
      userId: caller.id,
      change,
      expects: rowCondition(request),
    }
    const { revision, entries } = await write([entry], originOf(request), { onStale: toPreconditionFailed })
    const row = entries[0]?.after
    const etag = toEtag(change.kind === 'clear' ? revision : (row?.revision ?? 0))
    return answer(request, reply, etag, () => toUserDto(cell, caller.id, row, codec))
  }

  return { list, put, remove }
}

function isOwnable({ setting }: Cell): boolean {
  return setting.definition.scope === SettingScope.User
}
