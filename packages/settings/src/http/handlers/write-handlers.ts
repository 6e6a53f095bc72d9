/** Writes of System and Application values (S 4.1). Order of checks: decision 22. */
import { SettingValidationException } from '@fastify-modular/core'
import type { FastifyReply, FastifyRequest, preValidationHookHandler } from 'fastify'
import { SettingScope } from '../../setting-definition.ts'
import { toBulkEntries, toConflict } from '../../service/contract-operations.ts'
import type { BulkSettingUpdate, SettingValueDto, WriteOptions } from '../../service/contract.ts'
import { InvalidScopeException } from '../../service/exceptions.ts'
import { toSharedDto } from '../../service/read/dto.ts'
import type { Cell } from '../../service/read/snapshot.ts'
import type { SettingsService } from '../../service/service.ts'
import { kindOf } from '../../service/write/change-kind.ts'
import { requireFit, requireSetting, type SharedScope } from '../../service/write/entries.ts'
import type { EntryOutcome, WriteEntry } from '../../service/write/write.ts'
import { callerOf, requireUpdate } from '../access.ts'
import { rowCondition, toEtag, toPreconditionFailed } from '../caching/preconditions.ts'
import type { BulkRoute, ScopedRoute, WriteRoute } from '../route-types.ts'
import { parseScope } from '../scope.ts'

/** S 4.1.1: a User-scoped write is refused before anything else is looked at. */
export const refuseUserScope: preValidationHookHandler = (request, _reply, done) => {
  const items = Array.isArray(request.body) ? request.body : [request.body, request.query]
  done(items.some(isUserScoped) ? new InvalidScopeException() : undefined)
}

export function createWriteHandlers({ snapshot, codec, write }: SettingsService, maxBulkEntries: number) {
  async function put(request: FastifyRequest<WriteRoute>, reply: FastifyReply): Promise<unknown> {
    const { key, value } = request.body
    const scope = sharedScopeOf(request.body.scope)
    requireUpdate(request, [scope])
    const cell = requireFit(requireSetting(snapshot, key), scope)
    const [outcome] = await writeOne(request, { cell, scope, userId: '', change: { kind: 'set', value } })
    return answer(request, reply, toEtag(outcome?.after?.revision ?? 0), stored(cell, scope))
  }

  async function remove(request: FastifyRequest<ScopedRoute>, reply: FastifyReply): Promise<unknown> {
    const scope = sharedScopeOf(request.query.scope)
    requireUpdate(request, [scope])
    const cell = requireFit(requireSetting(snapshot, request.params.key), scope)
    const entry: WriteEntry = {
      cell,
      scope,
      userId: '',
      change: { kind: 'clear' },
      expects: rowCondition(request),
    }
    const { revision } = await write([entry], originOf(request), { onStale: toPreconditionFailed })
    return answer(request, reply, toEtag(revision), stored(cell, scope))
  }

  async function writeOne(request: FastifyRequest, entry: WriteEntry): Promise<readonly EntryOutcome[]> {
    const conditional = { ...entry, expects: rowCondition(request) }
    return (await write([conditional], originOf(request), { onStale: toPreconditionFailed })).entries
  }

  /** What is stored when it is called: the cell from before the write has the old value. */
  function stored({ setting }: Cell, scope: SharedScope): () => SettingValueDto {
    return () => toSharedDto(snapshot.require(setting.definition.key), scope)
  }

  async function bulk(request: FastifyRequest<BulkRoute>, reply: FastifyReply): Promise<unknown> {
    const updates = request.body.map((entry): BulkSettingUpdate => ({
      ...entry,
      scope: sharedScopeOf(entry.scope),
    }))
    const { entries, errors } = toBulkEntries(snapshot, updates) // 400 for a repeated row
    requireUpdate(
      request,
      updates.map(({ scope }) => scope),
    )
    for (const { cell, scope } of entries) requireFit(cell, scope)
    if (updates.length > maxBulkEntries) {
      throw new SettingValidationException('bulk', [`Send at most ${maxBulkEntries} entries at once.`])
    }
    const dryRun = request.query.dryRun === 'true'
    const outcome = await write(entries, originOf(request), { onStale: toConflict, errors, dryRun })
    const etag = toEtag(outcome.revision)
    if (dryRun) {
      return reply
        .header('etag', etag)
        .header('cache-control', 'no-store')
        .send(entries.map((entry, index) => toPreview(entry, outcome.entries[index])))
    }
    return answer(request, reply, etag, () =>
      updates.map(({ key, scope }) => toSharedDto(snapshot.require(key), sharedScopeOf(scope))),
    )
  }

  /** What a bulk would do to one value; sensitive ones as null. */
  function toPreview({ cell, scope, change }: WriteEntry, outcome: EntryOutcome | undefined) {
    const { key, sensitive } = cell.setting.definition
    // As the database has it: memory may not have taken yet what another process wrote.
    const layer = outcome?.before && codec.layerOf(cell.setting, outcome.before)
    const oldValue = layer?.state === 'valid' ? layer.value : null
    const newValue = change.kind === 'set' ? change.value : null
    return {
      key,
      scope,
      change: kindOf(outcome ?? {}),
      oldValue: sensitive ? null : oldValue,
      newValue: sensitive ? null : newValue,
    }
  }

  return { put, remove, bulk }
}

/** Who writes, recorded in history and events. */
export function originOf(request: FastifyRequest): WriteOptions {
  return { actor: callerOf(request).id, origin: 'api', requestId: String(request.id).slice(0, 200) }
}

/** 204, or to those who prefer it (RFC 7240) 200 with what is stored now. */
export function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  etag: string,
  stored: () => SettingValueDto | readonly SettingValueDto[],
): unknown {
  reply.header('etag', etag).header('cache-control', 'no-store')
  if (!wantsRepresentation(request)) return reply.code(204).send()
  return reply.code(200).header('preference-applied', 'return=representation').send(stored())
}

function wantsRepresentation({ headers }: FastifyRequest): boolean {
  return String(headers.prefer ?? '')
    .split(/[,;]/)
    .some((item) => /^\s*return=(?:representation|"representation")\s*$/i.test(item))
}

/** The scope of a row that is no user's. @throws {InvalidScopeException} User scope */
export function sharedScopeOf(input: unknown): SharedScope {
  const scope = parseScope(input)
  if (scope === undefined || scope === SettingScope.User) throw new InvalidScopeException()
  return scope
}

function isUserScoped(item: unknown): boolean {
  return (
    typeof item === 'object' &&
    item !== null &&
    'scope' in item &&
    parseScope(item.scope) === SettingScope.User
  )
}
