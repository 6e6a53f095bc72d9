/** `GET /`: the values of many settings (S 4.1, decisions 16 and 26). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { SettingScope } from '../../setting-definition.ts'
import { listShared, selectCells } from '../../service/read/list.ts'
import type { DefinitionFilter, Translations } from '../../service/read/select.ts'
import type { Cell } from '../../service/read/snapshot.ts'
import type { SettingsService } from '../../service/service.ts'
import { callerOf } from '../access.ts'
import { toDefinitionDto } from '../definition-dto.ts'
import { fingerprint } from '../caching/kept-body.ts'
import type { LocalizedDefinitions, Localizer } from '../localize/localizer.ts'
import { addVary } from '../caching/vary.ts'
import { isUnchanged } from '../caching/preconditions.ts'
import type { ListRoute } from '../route-types.ts'
import { parseScope } from '../scope.ts'

const json = 'application/json; charset=utf-8'

/** A list as it was made, good until a value changes. */
interface KeptList {
  readonly generation: number
  readonly body: Buffer
}

export function createListHandler({ settings, snapshot, cells }: SettingsService, localizer: Localizer) {
  /** By scope, then by group: few, because both are names that exist. */
  const kept = new Map<SettingScope | undefined, Map<string | undefined, KeptList>>()
  let definitionsTag: string | undefined
  let tag = ''
  let tagRevision = -1
  let tagLocks = 0

  /** Of all shared lists alike: caches keep them by their URL. */
  function sharedTag(): string {
    const { revision, lockGeneration } = snapshot
    if (tagRevision === revision && tagLocks === lockGeneration) return tag
    // Other definitions or overrides make other lists of the same revision.
    if (definitionsTag === undefined || tagLocks !== lockGeneration)
      definitionsTag = fingerprint(JSON.stringify(cells().map(toContent)))
    tagRevision = revision
    tagLocks = lockGeneration
    tag = `"r${tagRevision}-${definitionsTag}"`
    return tag
  }

  /** The shared tag, and the language of the words that were searched for. */
  function tagOf(locale: string | undefined): string | undefined {
    if (!snapshot.complete) return undefined
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
    addVary(reply, localized ? 'Cookie, Authorization, Accept-Language' : 'Cookie, Authorization')
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
    const selected = selectCells(cells(), request.query, localized?.translations)
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
    const { generation } = snapshot
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
    const values = listShared(cells(), { scope, group, q, tag: wanted }, translations)
    return Buffer.from(JSON.stringify(values))
  }
}

/** What the list shows of a setting beside what is stored; that a secret is locked, but not its value. */
function toContent({ setting: { definition }, locked = null }: Cell): unknown {
  return [toDefinitionDto(definition), definition.sensitive ? locked !== null : locked]
}

/** Sets the tag; answers 304 to somebody who has it. */
function answerUnchanged(request: FastifyRequest, reply: FastifyReply, etag: string | undefined): boolean {
  if (etag === undefined) return false
  reply.header('etag', etag)
  if (!isUnchanged(request, etag)) return false
  reply.code(304).send()
  return true
}
