/** `GET /`: the values of many settings (S 4.1, decisions 16 and 26). */
import {
  type Caller,
  ForbiddenException,
  hasPermission,
  SettingValidationException,
} from '@fastify-modular/core'
import { addVary } from '@fastify-modular/core/internal'
import type { FastifyReply, FastifyRequest, preValidationHookHandler } from 'fastify'
import {
  changeKind,
  type EntryOutcome,
  toConflict,
  type WriteEntry,
  type WriteOptions,
} from '../../write/write.ts'
import {
  type BulkSettingUpdate,
  requireFit,
  requireSetting,
  type SharedScope,
  toBulkEntries,
} from '../../write/entries.ts'
import { type SettingValueDto, toSharedDto } from '../../reading/dto.ts'
import type { SettingsService } from '../../create-settings.ts'
import { InvalidScopeException } from '../../exceptions.ts'
import { isOfUsers, type SettingState } from '../../memory/shared-values.ts'
import { type DefinitionFilter, listShared, selectStates, type Translations } from '../../reading/list.ts'
import { resolveFor, unwrap } from '../../reading/reader.ts'
import type { Resolution } from '../../resolve.ts'
import { SettingScope } from '../../setting-definition.ts'
import { isSecret } from '../../values/registered-setting.ts'
import { callerOf, requireAdmin, requireUpdate, updatePermission } from '../access.ts'
import {
  fingerprint,
  isUnchanged,
  type KeptBody,
  rowCondition,
  toEtag,
  toKeptBody,
  toPreconditionFailed,
} from '../conditional.ts'
import type { LocalizedDefinitions, Localizer } from '../localized-definitions.ts'
import type { BulkRoute, KeyRoute, ListRoute, ScopedRoute, WriteRoute } from '../route-types.ts'
import { parseScope } from '../schemas.ts'
import { toDefinitionDto } from './definitions.ts'

const json = 'application/json; charset=utf-8'

/** A list as it was made, good until a value changes. */
interface KeptList {
  readonly generation: number
  readonly body: Buffer
}

export function createListHandler({ settings, sharedValues, states }: SettingsService, localizer: Localizer) {
  /** By scope, then by group: few, because both are names that exist. */
  const kept = new Map<SettingScope | undefined, Map<string | undefined, KeptList>>()
  let definitionsTag: string | undefined
  let contentTag = ''
  let tag = ''
  let tagRevision = -1
  let tagGeneration = -1

  /**
   * Of all shared lists alike: caches keep them by their URL. The revision is not enough: a database that was restored
   * from a backup comes to the same revisions again, with other values.
   */
  function sharedTag(): string {
    const { revision, generation } = sharedValues
    if (tagRevision === revision && tagGeneration === generation) return tag
    // Which values a list selects depends on the definitions.
    definitionsTag ??= fingerprint(
      JSON.stringify(states().map(({ setting }) => toDefinitionDto(setting.definition))),
    )
    tagRevision = revision
    if (tagGeneration !== generation) {
      tagGeneration = generation
      contentTag = fingerprint(`${definitionsTag} ${String(keptList(undefined, undefined))}`)
    }
    tag = `"r${revision}-${contentTag}"`
    return tag
  }

  /** The shared tag, and the language of the words that were searched for. */
  function tagOf(locale: string | undefined): string | undefined {
    if (!sharedValues.complete) return undefined
    return locale === undefined ? sharedTag() : `"${sharedTag().slice(1, -1)}-${locale}"`
  }

  /** Never a promise for shared lists: most requests find what the last one was sent. */
  return function list(
    request: FastifyRequest<ListRoute>,
    reply: FastifyReply,
  ): Promise<unknown> | undefined {
    const { query } = request
    const { id } = callerOf(request)
    const scope = parseScope(query.scope)
    // Words are found in the caller's language too.
    const localized = localizer.isActive && query.q ? localizer.forRequest(request) : undefined
    reply.header('cache-control', 'private, no-cache')
    addVary(reply, 'Cookie', 'Authorization')
    if (localized) addVary(reply, 'Accept-Language')
    if (scope === SettingScope.User) return ownList(request, reply, id, localized)
    // With a later write in memory, but not all before it, the content is of no revision: nobody shall keep it.
    if (!answerUnchanged(request, reply, tagOf(localized?.locale)))
      reply.type(json).send(sharedList(scope, query, localized?.translations))
    return undefined
  }

  async function ownList(
    request: FastifyRequest<ListRoute>,
    reply: FastifyReply,
    id: string,
    localized: LocalizedDefinitions | undefined,
  ): Promise<unknown> {
    const selected = selectStates(states(), request.query, localized?.translations)
    const keys = new Set(selected.map(({ setting }) => setting.definition.key))
    const values = await settings.getSettingValues({ scope: SettingScope.User, userId: id })
    // Read from the database, not from memory, whose revision would tag another content.
    const body = JSON.stringify(values.filter(({ key }) => keys.has(key)))
    if (answerUnchanged(request, reply, `"${fingerprint(`${id} ${body}`)}"`)) return reply
    return reply.type(json).send(body)
  }

  function sharedList(
    scope: SettingScope | undefined,
    query: DefinitionFilter,
    translations: Translations | undefined,
  ): Buffer {
    const isSearch = query.q !== undefined || query.tag !== undefined
    return isSearch ? makeList(scope, query, translations) : keptList(scope, query.group)
  }

  function keptList(scope: SettingScope | undefined, group: string | undefined): Buffer {
    const lists = kept.get(scope) ?? new Map<string | undefined, KeptList>()
    const { generation } = sharedValues
    const known = lists.get(group)
    if (known?.generation === generation) return known.body
    const body = makeList(scope, { group })
    if (body.length > 2) kept.set(scope, lists.set(group, { generation, body })) // not "[]": no such group
    return body
  }

  function makeList(
    scope: SettingScope | undefined,
    { group, q, tag: wanted }: DefinitionFilter,
    translations?: Translations,
  ): Buffer {
    const values = listShared(states(), { scope, group, q, tag: wanted }, translations)
    return Buffer.from(JSON.stringify(values))
  }
}

/** Sets the tag; answers 304 to somebody who has it. */
function answerUnchanged(request: FastifyRequest, reply: FastifyReply, etag: string | undefined): boolean {
  if (etag === undefined) return false
  reply.header('etag', etag)
  if (!isUnchanged(request, etag)) return false
  reply.code(304).send()
  return true
}

/** Who may see a sensitive value in `/resolved` that is not their own (decision 18). */
export type SensitiveResolved = 'spec' | 'own' | 'permission'

export function createReadHandlers(
  { settings, sharedValues, users }: SettingsService,
  sensitiveResolved: SensitiveResolved,
) {
  async function one(request: FastifyRequest<ScopedRoute>, reply: FastifyReply): Promise<unknown> {
    const { key } = request.params
    const state = requireSetting(sharedValues, key)
    const scope = parseScope(request.query.scope) ?? SettingScope.System
    const isOwn = scope === SettingScope.User && state.setting.definition.scope === SettingScope.User
    if (!isOwn) requireFit(state, scope)
    const value = await settings.getSettingValue(key, scope, callerOf(request).id)
    return reply
      .header('cache-control', 'no-store')
      .header('etag', toEtag(value?.version ?? 0))
      .send(value)
  }

  async function resolved(request: FastifyRequest<KeyRoute>, reply: FastifyReply): Promise<unknown> {
    const caller = callerOf(request)
    const state = requireSetting(sharedValues, request.params.key)
    const resolution = isOfUsers(state) ? resolveFor(state, await users.load(caller.id)) : state.shared
    if (isSecret(state.setting, resolution.row)) {
      requireSensitive(state, resolution, caller)
      request.log.info({ key: request.params.key, caller: caller.id }, 'sensitive setting was read')
    }
    // A string must be sent as a JSON string, which a serializer would not be asked for.
    return reply
      .header('cache-control', 'no-store')
      .type(json)
      .send(JSON.stringify(unwrap(resolution)))
  }

  /** S 2.7 decodes sensitive values; System ones are for administrators, others as the host decided (decision 18). */
  function requireSensitive(state: SettingState, { source }: Resolution, caller: Caller): void {
    if (state.setting.definition.scope === SettingScope.System) return requireAdmin(caller)
    if (sensitiveResolved === 'spec' || source === 'user') return
    if (sensitiveResolved === 'permission' && hasPermission(caller, updatePermission)) return
    throw new ForbiddenException('The value of this setting is not shown to you.')
  }

  let publicBody: ({ readonly generation: number } & KeptBody) | undefined

  function publicValues(request: FastifyRequest, reply: FastifyReply): void {
    if (publicBody?.generation !== sharedValues.generation) {
      publicBody = { ...toKeptBody(settings.publicValues()), generation: sharedValues.generation }
    }
    const { body, etag } = publicBody
    reply.header('cache-control', 'no-cache').header('etag', etag)
    if (isUnchanged(request, etag)) reply.code(304).send()
    else reply.type(json).send(body)
  }

  return { one, resolved, publicValues }
}

/** S 4.1.1: a User-scoped write is refused before anything else is looked at. */
export const refuseUserScope: preValidationHookHandler = (request, _reply, done) => {
  const items = Array.isArray(request.body) ? request.body : [request.body, request.query]
  done(items.some(isUserScoped) ? new InvalidScopeException() : undefined)
}

export function createWriteHandlers({ sharedValues, codec, write }: SettingsService, maxBulkEntries: number) {
  async function put(request: FastifyRequest<WriteRoute>, reply: FastifyReply): Promise<unknown> {
    const { key, value } = request.body
    const scope = sharedScopeOf(request.body.scope)
    requireUpdate(request, [scope])
    const state = requireFit(requireSetting(sharedValues, key), scope)
    const [outcome] = await writeOne(request, { state, scope, userId: '', change: { kind: 'set', value } })
    return answer(request, reply, toEtag(outcome?.after?.revision ?? 0), stored(state, scope))
  }

  async function remove(request: FastifyRequest<ScopedRoute>, reply: FastifyReply): Promise<unknown> {
    const scope = sharedScopeOf(request.query.scope)
    requireUpdate(request, [scope])
    const state = requireFit(requireSetting(sharedValues, request.params.key), scope)
    const entry: WriteEntry = {
      state,
      scope,
      userId: '',
      change: { kind: 'clear' },
      expects: rowCondition(request),
    }
    const { revision } = await write([entry], originOf(request), { onStale: toPreconditionFailed })
    return answer(request, reply, toEtag(revision), stored(state, scope))
  }

  async function writeOne(request: FastifyRequest, entry: WriteEntry): Promise<readonly EntryOutcome[]> {
    const conditional = { ...entry, expects: rowCondition(request) }
    return (await write([conditional], originOf(request), { onStale: toPreconditionFailed })).entries
  }

  /** What is stored when it is called: the state from before the write has the old value. */
  function stored({ setting }: SettingState, scope: SharedScope): () => SettingValueDto {
    return () => toSharedDto(sharedValues.require(setting.definition.key), scope)
  }

  async function bulk(request: FastifyRequest<BulkRoute>, reply: FastifyReply): Promise<unknown> {
    const updates = request.body.map((entry): BulkSettingUpdate => ({
      ...entry,
      scope: sharedScopeOf(entry.scope),
    }))
    const { entries, errors } = toBulkEntries(sharedValues, updates) // 400 for a repeated row
    requireUpdate(
      request,
      updates.map(({ scope }) => scope),
    )
    for (const { state, scope } of entries) requireFit(state, scope)
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
      updates.map(({ key, scope }) => toSharedDto(sharedValues.require(key), sharedScopeOf(scope))),
    )
  }

  /** What a bulk would do to one value; secrets as null. */
  function toPreview({ state, scope, change }: WriteEntry, outcome: EntryOutcome | undefined) {
    const { setting } = state
    // As the database has it: memory may not have taken yet what another process wrote.
    const layer = outcome?.before && codec.layerOf(setting, outcome.before)
    const oldValue = layer?.state === 'valid' ? layer.value : null
    const newValue = change.kind === 'set' ? change.value : null
    return {
      key: setting.definition.key,
      scope,
      change: changeKind(outcome ?? {}),
      oldValue: isSecret(setting, outcome?.before) ? null : oldValue,
      newValue: isSecret(setting, undefined) ? null : newValue,
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
  if (!prefersRepresentation(request)) return reply.code(204).send()
  return reply.code(200).header('preference-applied', 'return=representation').send(stored())
}

function prefersRepresentation({ headers }: FastifyRequest): boolean {
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
