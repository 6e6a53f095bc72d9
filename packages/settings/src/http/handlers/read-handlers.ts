/** Reads of single values, of what holds for the caller, and of public values (S 4.1). */
import { type Caller, ForbiddenException, hasPermission } from '@fastify-modular/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { SettingScope } from '../../setting-definition.ts'
import type { SettingsService } from '../../service/service.ts'
import { resolveFor, unwrap } from '../../service/read/reader.ts'
import { requireFit, requireSetting } from '../../service/write/entries.ts'
import type { Cell } from '../../service/read/snapshot.ts'
import type { Resolution } from '../../service/read/resolve.ts'
import { callerOf, requireAdmin, updatePermission } from '../access.ts'
import { type KeptBody, toKeptBody } from '../caching/kept-body.ts'
import { isUnchanged, toEtag } from '../caching/preconditions.ts'
import type { KeyRoute, ScopedRoute } from '../route-types.ts'
import { parseScope } from '../scope.ts'

/** Who may see a sensitive value in `/resolved` that is not their own (decision 18). */
export type SensitiveResolved = 'spec' | 'own' | 'permission'

const json = 'application/json; charset=utf-8'

export function createReadHandlers(
  { settings, snapshot, users }: SettingsService,
  sensitiveResolved: SensitiveResolved,
) {
  async function one(request: FastifyRequest<ScopedRoute>, reply: FastifyReply): Promise<unknown> {
    const { key } = request.params
    const cell = requireSetting(snapshot, key)
    const scope = parseScope(request.query.scope) ?? SettingScope.System
    const isOwn = scope === SettingScope.User && cell.setting.definition.scope === SettingScope.User
    if (!isOwn) requireFit(cell, scope)
    const value = await settings.getSettingValue(key, scope, callerOf(request).id)
    return reply
      .header('cache-control', 'no-store')
      .header('etag', toEtag(value?.version ?? 0))
      .send(value)
  }

  async function resolved(request: FastifyRequest<KeyRoute>, reply: FastifyReply): Promise<unknown> {
    const caller = callerOf(request)
    const cell = requireSetting(snapshot, request.params.key)
    const resolution = cell.place ? resolveFor(cell, await users.load(caller.id)) : cell.shared
    if (cell.setting.definition.sensitive) {
      requireSensitive(cell, resolution, caller)
      request.log.info({ key: request.params.key, caller: caller.id }, 'sensitive setting was read')
    }
    // A string must be sent as a JSON string, which a serializer would not be asked for.
    return reply
      .header('cache-control', 'no-store')
      .type(json)
      .send(JSON.stringify(unwrap(resolution)))
  }

  /** S 2.7 decodes sensitive values; System ones are for administrators, others as the host decided (decision 18). */
  function requireSensitive(cell: Cell, { source }: Resolution, caller: Caller): void {
    if (cell.setting.definition.scope === SettingScope.System) return requireAdmin(caller)
    if (sensitiveResolved === 'spec' || source === 'user') return
    if (sensitiveResolved === 'permission' && hasPermission(caller, updatePermission)) return
    throw new ForbiddenException('The value of this setting is not shown to you.')
  }

  let publicBody: ({ readonly generation: number } & KeptBody) | undefined

  function publicValues(request: FastifyRequest, reply: FastifyReply): void {
    if (publicBody?.generation !== snapshot.generation) {
      publicBody = { ...toKeptBody(settings.publicValues()), generation: snapshot.generation }
    }
    const { body, etag } = publicBody
    reply.header('cache-control', 'no-cache').header('etag', etag)
    if (isUnchanged(request, etag)) reply.code(304).send()
    else reply.type(json).send(body)
  }

  return { one, resolved, publicValues }
}
