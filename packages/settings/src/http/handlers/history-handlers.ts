/** What happened to settings, where their values come from, and the way back (decision 26b). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { SettingScope } from '../../setting-definition.ts'
import type { HistoryEntry } from '../../service/history.ts'
import { toSharedDto, toUserDto } from '../../service/read/dto.ts'
import type { SettingsService } from '../../service/service.ts'
import { requireSetting, rowUser } from '../../service/write/entries.ts'
import { requireUpdate } from '../access.ts'
import { toEtag } from '../caching/preconditions.ts'
import type { ChangesRoute, HistoryRoute, KeyRoute, RollbackRoute } from '../route-types.ts'
import { parseScope } from '../scope.ts'
import { answer, originOf } from './write-handlers.ts'

export function createHistoryHandlers({ settings, history, snapshot, codec }: SettingsService) {
  /** The history of one setting: of the scope asked for, else of the setting's shared values. */
  async function ofSetting(
    request: FastifyRequest<HistoryRoute>,
    reply: FastifyReply,
  ): Promise<readonly HistoryEntry[]> {
    const { key } = request.params
    const own = snapshot.find(key)?.setting.definition.scope
    const scope =
      parseScope(request.query.scope) ?? (own === SettingScope.User ? SettingScope.Application : own)
    const caller = requireUpdate(request, [scope])
    requireSetting(snapshot, key)
    reply.header('cache-control', 'no-store')
    // User rows are their owner's: the user id is always the caller's (decision 26b).
    return settings.history({
      key,
      ...(scope !== undefined && { scope }),
      userId: caller.id,
      ...paging(request.query),
    })
  }

  /** Changes of System and Application values, by revision: what was written together stands together. */
  async function changes(request: FastifyRequest<ChangesRoute>, reply: FastifyReply): Promise<unknown> {
    const caller = requireUpdate(request)
    const scope = caller.isAdmin === true ? undefined : SettingScope.Application
    reply.header('cache-control', 'no-store')
    const entries = await settings.history({
      ...(scope !== undefined && { scope }),
      ...paging(request.query),
    })
    return groupByRevision(entries)
  }

  async function rollback(request: FastifyRequest<RollbackRoute>, reply: FastifyReply): Promise<unknown> {
    const scope = parseScope(request.body.scope) ?? SettingScope.System
    const { id } = requireUpdate(request, [scope])
    const target = {
      key: request.params.key,
      scope,
      revision: request.body.revision,
      userId: rowUser(scope, id),
    }
    const options = { ...originOf(request), origin: 'rollback', note: request.body.note ?? null }
    const { entries } = await history.rollback(target, options)
    const row = entries[0]?.after
    const cell = snapshot.require(target.key)
    return answer(request, reply, toEtag(row?.revision ?? 0), () =>
      scope === SettingScope.User ? toUserDto(cell, id, row, codec) : toSharedDto(cell, scope),
    )
  }

  async function inspect(request: FastifyRequest<KeyRoute>, reply: FastifyReply): Promise<unknown> {
    const cell = snapshot.find(request.params.key)
    const caller = requireUpdate(request, [cell?.setting.definition.scope])
    requireSetting(snapshot, request.params.key)
    return reply
      .header('cache-control', 'no-store')
      .send(await settings.inspect(request.params.key, caller.id))
  }

  return { ofSetting, changes, rollback, inspect }
}

function paging({ before, limit }: ChangesRoute['Querystring']): { before?: number; limit?: number } {
  return {
    ...(before !== undefined && { before: Number(before) }),
    ...(limit !== undefined && { limit: Number(limit) }),
  }
}

/** A page may end within a revision; its first page shows the newest entries whole unless one revision exceeds it. */
function groupByRevision(entries: readonly HistoryEntry[]) {
  const groups = new Map<
    number,
    { revision: number; at: string; actor: string | null; entries: HistoryEntry[] }
  >()
  for (const entry of entries) {
    const { revision, at, actor } = entry
    const group = groups.get(revision) ?? { revision, at, actor, entries: [] }
    group.entries.push(entry)
    groups.set(revision, group)
  }
  return [...groups.values()]
}
