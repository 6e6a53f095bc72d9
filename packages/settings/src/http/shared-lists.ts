/** Lists of values as they are sent. */
import { addVary } from '@fastify-modular/core/internal'
import type { FastifyReply, FastifyRequest, preHandlerHookHandler } from 'fastify'
import type { SettingsService } from '../create-settings.ts'
import type { SettingValueDto } from '../reading/dto.ts'
import { listShared, type OwnValues, readOwnValues } from '../reading/list.ts'
import type { SettingScope } from '../setting-definition.ts'
import { callerOf } from './access.ts'
import { sendUnlessUnchanged, type TaggedJson, toTaggedJson } from './conditional.ts'
import { toDefinitionDto } from './localized-definitions.ts'

/** Caches keep a list for one caller, and validate it for each request. */
function setCaching(reply: FastifyReply): void {
  reply.header('cache-control', 'private, no-cache')
  addVary(reply, 'Cookie, Authorization')
}

/** A preHandler hook: a client that a stream has told to read gets nothing that is older than that. */
export function reachFirst({ streams }: SettingsService, isPublic = false): preHandlerHookHandler {
  return function reachKnown(request, _reply, done) {
    const reached = streams.reach(request, isPublic ? null : callerOf(request).id)
    const goOn = (): void => done()
    const refuse = (reason: Error): void => done(reason)
    if (reached) reached.then(goOn, refuse)
    else goOn()
  }
}

/** Sends lists of values, each under a tag; those of shared values are kept until a shared value changes. */
export class SharedLists {
  readonly #service: SettingsService
  readonly #lists = new Map<string, TaggedJson>()
  /** The tag of all definitions, which are frozen when requests arrive. */
  #definitions: string | undefined
  #generation = -1

  constructor(service: SettingsService) {
    this.#service = service
  }

  /** Sends shared values, most of the time from memory. */
  send(request: FastifyRequest, reply: FastifyReply, scope?: SettingScope, group?: string): void {
    setCaching(reply)
    sendUnlessUnchanged(request, reply, this.#shared(scope, group))
  }

  /** Sends the values of public settings, to whoever asks. */
  sendPublic(request: FastifyRequest, reply: FastifyReply): void {
    reply.header('cache-control', 'no-cache')
    const toContent = () => this.#service.settings.publicValues()
    sendUnlessUnchanged(request, reply, this.#kept('public', toContent))
  }

  /** Sends the caller's values with what they inherit. The tag is of what a list is made of: that costs less than the list. */
  async sendOwn(
    request: FastifyRequest,
    reply: FastifyReply,
    toContent: (own: OwnValues) => readonly SettingValueDto[],
  ): Promise<unknown> {
    setCaching(reply) // also of a failure, which a cache must not give to another caller
    const { id } = callerOf(request)
    const own = await readOwnValues(this.#service, id)
    this.#definitions ??= toTaggedJson(
      this.#service.states().map(({ setting }) => toDefinitionDto(setting.definition, true)),
    ).etag
    return sendUnlessUnchanged(request, reply, {
      etag: toTaggedJson([this.#definitions, this.#shared().etag, own.versions], id).etag,
      get body() {
        return Buffer.from(JSON.stringify(toContent(own)))
      },
    })
  }

  #shared(scope?: SettingScope, group?: string): TaggedJson {
    return this.#kept(JSON.stringify([scope, group]), () =>
      listShared(this.#service.states(), { scope, group }),
    )
  }

  #kept(name: string, toContent: () => Parameters<typeof toTaggedJson>[0]): TaggedJson {
    const { generation } = this.#service.sharedValues
    if (generation !== this.#generation) this.#lists.clear()
    this.#generation = generation
    const list = this.#lists.get(name) ?? toTaggedJson(toContent())
    // An empty list is not kept: callers can invent any number of groups. Public values are an object.
    if (list.body.toString('latin1', 0, 3) !== '[]') this.#lists.set(name, list)
    return list
  }
}
