/** Lists of values as they are sent: kept for as long as no shared value changes, and tagged. */
import { addVary } from '@fastify-modular/core/internal'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SettingsService } from '../create-settings.ts'
import { listShared, type OwnValues, readOwnValues } from '../reading/list.ts'
import type { SettingScope } from '../setting-definition.ts'
import { callerOf } from './access.ts'
import { fingerprint, sendUnlessUnchanged, type TaggedJson, toTaggedJson } from './conditional.ts'
import { toDefinitionDto } from './localized-definitions.ts'

/** Caches keep a list for one caller, and validate it for each request. */
function setCaching(reply: FastifyReply): void {
  reply.header('cache-control', 'private, no-cache')
  addVary(reply, 'Cookie, Authorization')
}

/** Lists of shared values as JSON, by scope and group, kept until a shared value changes; and their entity tag. */
export class SharedLists {
  readonly #service: SettingsService
  readonly #bodies = new Map<string, Buffer>()
  /** Which values a list selects depends on the definitions, which are frozen when requests arrive. */
  #definitions: string | undefined
  #content: string | undefined
  #public: TaggedJson | undefined
  #generation = -1

  constructor(service: SettingsService) {
    this.#service = service
  }

  /** Sends shared values, most of the time from memory. */
  send(request: FastifyRequest, reply: FastifyReply, scope?: SettingScope, group?: string): void {
    setCaching(reply)
    sendUnlessUnchanged(request, reply, this.#tag(), () => this.#bodyOf(scope, group))
  }

  #bodyOf(scope?: SettingScope, group?: string): Buffer {
    this.#dropOutdated()
    const name = JSON.stringify([scope, group])
    const known = this.#bodies.get(name)
    if (known) return known
    const body = Buffer.from(JSON.stringify(listShared(this.#service.states(), { scope, group })))
    // An empty list is not kept: callers can invent any number of groups.
    if (body.length > '[]'.length) this.#bodies.set(name, body)
    return body
  }

  /**
   * One tag for all shared lists, because caches keep them by their URL. The revision alone is not enough: memory may hold
   * a later write, but not all before it, and a database that was restored comes to the same revisions with other values.
   */
  #tag(): string {
    return `"r${this.#service.sharedValues.revision}-${this.#fingerprint()}"`
  }

  /** Sends the values of public settings, to whoever asks. */
  sendPublic(request: FastifyRequest, reply: FastifyReply): void {
    this.#dropOutdated()
    this.#public ??= toTaggedJson(this.#service.settings.publicValues())
    const { body, etag } = this.#public
    reply.header('cache-control', 'no-cache')
    sendUnlessUnchanged(request, reply, etag, () => body)
  }

  /** Sends the caller's values, under a tag of these values and of the shared ones that they inherit. */
  async sendOwn(
    request: FastifyRequest,
    reply: FastifyReply,
    toContent: (own: OwnValues) => unknown,
  ): Promise<unknown> {
    setCaching(reply) // also of a failure, which a cache must not give to another caller
    const own = await readOwnValues(this.#service, callerOf(request).id)
    const tag = `${this.#tag().slice(0, -1)}-${fingerprint(own.versions)}"`
    return sendUnlessUnchanged(request, reply, tag, () => Buffer.from(JSON.stringify(toContent(own))))
  }

  /** Changes with any definition and any value. */
  #fingerprint(): string {
    this.#dropOutdated()
    this.#definitions ??= fingerprint(
      JSON.stringify(this.#service.states().map(({ setting }) => toDefinitionDto(setting.definition, true))),
    )
    this.#content ??= fingerprint(`${this.#definitions} ${String(this.#bodyOf())}`)
    return this.#content
  }

  #dropOutdated(): void {
    const { generation } = this.#service.sharedValues
    if (generation === this.#generation) return
    this.#generation = generation
    this.#bodies.clear()
    this.#content = undefined
    this.#public = undefined
  }
}
