/** Reads of System and Application values, of definitions, and of what holds for the caller (S 4.1). */
import { createHash } from 'node:crypto'
import { type Caller, ForbiddenException, hasPermission } from '@fastify-modular/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SettingsFilter } from '../../service/contract.ts'
import { type JsonValue, SettingScope } from '../../setting-definition.ts'
import { valueSchema } from '../../values/value-schema.ts'
import type { SettingsService } from '../../service/service.ts'
import { resolveFor, unwrap } from '../../service/read/reader.ts'
import { requireSetting } from '../../service/write/entries.ts'
import type { Cell } from '../../service/read/snapshot.ts'
import type { Resolution } from '../../service/read/resolve.ts'
import { callerOf, requireAdmin, updatePermission } from '../access.ts'
import { isUnchanged, toEtag } from '../preconditions.ts'
import type { KeyRoute, ListRoute, ScopedRoute } from '../route-types.ts'
import { parseScope } from '../scope.ts'

/** Who may see a sensitive value in `/resolved` that is not their own (decision 18). */
export type SensitiveResolved = 'spec' | 'own' | 'permission'

const json = 'application/json; charset=utf-8'

export function createReadHandlers(
  { settings, snapshot, users }: SettingsService,
  sensitiveResolved: SensitiveResolved,
) {
  const lists = new Map<string, { readonly generation: number; readonly body: Buffer }>()
  let fingerprint: string | undefined

  /** Other definitions or overrides make other lists of the same revision. */
  function contentTag(): string {
    fingerprint ??= hash(JSON.stringify(definitions().concat(lockedValues())))
    return `r${snapshot.revision}-${fingerprint}`
  }

  function definitions(): unknown[] {
    return settings.definitions.getDefinitions().map((definition) => ({
      ...definition,
      defaultValue: definition.sensitive ? null : definition.defaultValue,
      valueSchema: valueSchema(definition),
    }))
  }

  function lockedValues(): unknown[] {
    const cells = settings.definitions.getDefinitions().map(({ key }) => snapshot.require(key))
    return cells.flatMap(({ setting, locked }) =>
      locked === undefined
        ? []
        : { key: setting.definition.key, value: setting.definition.sensitive ? null : locked },
    )
  }

  async function list(request: FastifyRequest<ListRoute>, reply: FastifyReply): Promise<unknown> {
    const { group } = request.query
    const scope = parseScope(request.query.scope)
    const { id } = callerOf(request)
    const isOwn = scope === SettingScope.User
    const etag = isOwn ? `"${contentTag()}-${hash(id)}"` : `"${contentTag()}"`
    // With a later write in memory, but not all before it, the content is of no revision: nobody shall keep it.
    const { complete } = snapshot
    const isKnown = complete && isUnchanged(request, etag)
    const filter = { ...(group !== undefined && { group }), ...(scope !== undefined && { scope }) }
    const body = isKnown
      ? undefined
      : isOwn
        ? await ownList({ ...filter, userId: id })
        : await sharedList(filter)
    reply.header('cache-control', 'private, no-cache').header('vary', 'Cookie, Authorization')
    if (complete) reply.header('etag', etag)
    return isKnown ? reply.code(304).send() : reply.type(json).send(body)
  }

  async function ownList(filter: SettingsFilter): Promise<string> {
    return JSON.stringify(await settings.getSettingValues(filter))
  }

  /** Lists are made once and kept until a value changes: their names are those of groups, which are few. */
  async function sharedList(filter: SettingsFilter): Promise<Buffer> {
    const name = JSON.stringify(filter)
    const { generation } = snapshot
    const kept = lists.get(name)
    if (kept?.generation === generation) return kept.body
    const values = await settings.getSettingValues(filter)
    const body = Buffer.from(JSON.stringify(values))
    if (values.length > 0) lists.set(name, { generation, body })
    return body
  }

  async function one(request: FastifyRequest<ScopedRoute>, reply: FastifyReply): Promise<unknown> {
    const { key } = request.params
    requireSetting(snapshot, key)
    const scope = parseScope(request.query.scope) ?? SettingScope.System
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

  let definitionsBody: { readonly body: Buffer; readonly etag: string } | undefined

  function allDefinitions(request: FastifyRequest, reply: FastifyReply): void {
    // Definitions are frozen once the application is ready (decision 5).
    definitionsBody ??= toBody(definitions())
    const { body, etag } = definitionsBody
    reply.header('cache-control', 'private, no-cache').header('etag', etag)
    if (isUnchanged(request, etag)) reply.code(304).send()
    else reply.type(json).send(body)
  }

  let publicBody: { readonly generation: number; readonly body: Buffer; readonly etag: string } | undefined

  function publicValues(request: FastifyRequest, reply: FastifyReply): void {
    if (publicBody?.generation !== snapshot.generation) {
      publicBody = { ...toBody(settings.publicValues()), generation: snapshot.generation }
    }
    const { body, etag } = publicBody
    reply.header('cache-control', 'no-cache').header('etag', etag)
    if (isUnchanged(request, etag)) reply.code(304).send()
    else reply.type(json).send(body)
  }

  return { list, one, resolved, allDefinitions, publicValues }
}

function toBody(content: JsonValue | readonly unknown[]): { readonly body: Buffer; readonly etag: string } {
  const text = JSON.stringify(content)
  return { body: Buffer.from(text), etag: `"${hash(text)}"` }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16)
}
