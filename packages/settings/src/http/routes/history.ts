/** What happened to settings, where their values come from, and the way back (decision 26b). */
import { NotFoundException } from '@fastify-modular/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SettingsService } from '../../create-settings.ts'
import type { StoredHistoryEntry } from '../../history/history.ts'
import { toSharedDto, toUserDto } from '../../reading/dto.ts'
import { SettingScope } from '../../setting-definition.ts'
import { isJson } from '../../values/decode.ts'
import { requireSetting, rowUser } from '../../write/entries.ts'
import { requireUpdate } from '../access.ts'
import { fingerprint, toEtag } from '../conditional.ts'
import type {
  ChangesRoute,
  HistoryEntryRoute,
  HistoryRoute,
  KeyRoute,
  RollbackRoute,
} from '../route-types.ts'
import { parseScope } from '../schemas.ts'
import { answer, originOf } from './values.ts'

const json = 'application/json; charset=utf-8'

export function createHistoryHandlers({ settings, history, sharedValues, codec }: SettingsService) {
  /** One setting, in the scope asked for, else that of its shared values. */
  function select(request: FastifyRequest, key: string, wanted: string | undefined) {
    const own = sharedValues.find(key)?.setting.definition.scope
    const scope = parseScope(wanted) ?? (own === SettingScope.User ? SettingScope.Application : own)
    const caller = requireUpdate(request, [scope])
    requireSetting(sharedValues, key)
    // User rows are their owner's: the user id is always the caller's (decision 26b).
    return { key, ...(scope !== undefined && { scope }), userId: caller.id }
  }

  async function ofSetting(request: FastifyRequest<HistoryRoute>, reply: FastifyReply): Promise<unknown> {
    const selection = select(request, request.params.key, request.query.scope)
    const { entries, next } = await history.page({ ...selection, ...paging(request.query) })
    const listed = member('entries', `[${entries.map(toListedJson).join(',')}]`)
    return send(reply, `{${listed},${member('next', JSON.stringify(next))}}`)
  }

  /** What one revision did to one setting, with its values whole. */
  async function entry(request: FastifyRequest<HistoryEntryRoute>, reply: FastifyReply): Promise<unknown> {
    const { key } = request.params
    const revision = Number(request.params.revision)
    const selection = select(request, key, request.query.scope)
    const { entries } = await history.page({ ...selection, revision, limit: 1 })
    const [found] = entries
    if (!found) throw new NotFoundException(`Revision of the setting "${key}"`, revision)
    return send(reply, toWholeJson(found))
  }

  /** Changes of System and Application values, by revision: what was written together stands together. */
  async function changes(request: FastifyRequest<ChangesRoute>, reply: FastifyReply): Promise<unknown> {
    const caller = requireUpdate(request)
    const scope = caller.isAdmin === true ? undefined : SettingScope.Application
    const { entries, next } = await history.page({
      ...(scope !== undefined && { scope }),
      ...paging(request.query),
    })
    const sets = member('changes', `[${groupByRevision(entries).join(',')}]`)
    return send(reply, `{${sets},${member('next', JSON.stringify(next))}}`)
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
    const state = sharedValues.require(target.key)
    return answer(request, reply, toEtag(row?.revision ?? 0), () =>
      scope === SettingScope.User ? toUserDto(state, id, row, codec) : toSharedDto(state, scope),
    )
  }

  async function inspect(request: FastifyRequest<KeyRoute>, reply: FastifyReply): Promise<unknown> {
    const state = sharedValues.find(request.params.key)
    const caller = requireUpdate(request, [state?.setting.definition.scope])
    requireSetting(sharedValues, request.params.key)
    return reply
      .header('cache-control', 'no-store')
      .send(await settings.inspect(request.params.key, caller.id))
  }

  return { ofSetting, entry, changes, rollback, inspect }
}

function send(reply: FastifyReply, text: string): FastifyReply {
  return reply.header('cache-control', 'no-store').type(json).send(text)
}

/** A revision, or the `next` of a page. */
function paging({ before, limit }: ChangesRoute['Querystring']): {
  before?: number | string
  limit?: number
} {
  return {
    ...(before !== undefined && { before: before.includes(':') ? before : Number(before) }),
    ...(limit !== undefined && { limit: Number(limit) }),
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

/** What something else than this package wrote must not break the answer. */
function toJson(text: string | null): string {
  return text !== null && isJson(text) ? text : 'null'
}
