/** Lists of values as they are sent. */
import { addVary } from '@fastify-modular/core/internal'
import type { FastifyReply, FastifyRequest, preHandlerHookHandler } from 'fastify'
import type { SettingsService } from '../create-settings.ts'
import type { SettingValueDto } from '../reading/dto.ts'
import { listShared, ofTenant, ofUser, type OwnValues, readOwnValues } from '../reading/list.ts'
import { type SettingScope, tenantHeader } from '../setting-definition.ts'
import type { Membership } from '../tenants.ts'
import { callerOf } from './access.ts'
import { sendUnlessUnchanged, type TaggedJson, toTaggedJson } from './conditional.ts'

/** A preHandler hook: a client that a stream has told to read gets nothing that is older than that. */
export function reachFirst({ streams }: SettingsService, isPublic = false): preHandlerHookHandler {
  return function reachKnown(request, _reply, done) {
    const reached = streams.catchUp.reach(request, isPublic ? null : callerOf(request).id)
    const goOn = (): void => done()
    const refuse = (reason: Error): void => done(reason)
    if (reached) reached.then(goOn, refuse)
    else goOn()
  }
}

/** The tenant of a request for its caller. */
type TenantOf = (request: FastifyRequest) => Promise<Membership | null>

/** Sends lists of values, each under a tag of its content; those of shared values are kept until a shared value changes. */
export class SharedLists {
  readonly #service: SettingsService
  readonly #tenantOf: TenantOf
  readonly #lists = new Map<string, TaggedJson>()
  #generation = -1

  constructor(service: SettingsService, tenantOf: TenantOf) {
    this.#service = service
    this.#tenantOf = tenantOf
  }

  /** Caches keep a list for one caller, and validate it for each request. */
  #setCaching(reply: FastifyReply): void {
    reply.header('cache-control', 'private, no-cache')
    addVary(reply, 'Cookie, Authorization')
    if (this.#service.findMembership) addVary(reply, tenantHeader)
  }

  /** Sends shared values, most of the time from memory. */
  send(request: FastifyRequest, reply: FastifyReply, scope?: SettingScope, group?: string): FastifyReply {
    this.#setCaching(reply)
    const toContent = () => listShared(this.#service.states(), { scope, group })
    return sendUnlessUnchanged(request, reply, this.#kept(JSON.stringify([scope, group]), toContent))
  }

  /** Sends the values of public settings to whoever asks, as they hold in the tenant of the request. */
  async sendPublic(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const { settings, findMembership } = this.#service
    if (!findMembership) {
      reply.header('cache-control', 'no-cache')
      return sendUnlessUnchanged(
        request,
        reply,
        this.#kept('public', () => settings.publicValues()),
      )
    }
    this.#setCaching(reply)
    const tenant = (await this.#tenantOf(request))?.id
    const values = tenant === undefined ? settings.publicValues() : await settings.publicValues({ tenant })
    return sendUnlessUnchanged(request, reply, toTaggedJson(values, tenant ?? ''))
  }

  /** Sends values of a tenant, as a caller who may write them sees them. */
  async sendTenant(
    request: FastifyRequest,
    reply: FastifyReply,
    { id }: Membership,
    toContent: (values: OwnValues) => readonly SettingValueDto[],
  ): Promise<unknown> {
    this.#setCaching(reply)
    const content = toContent(await readOwnValues(this.#service, ofTenant(id)))
    return sendUnlessUnchanged(request, reply, toTaggedJson(content, audienceOf(request, id)))
  }

  /** Sends the caller's values with what they inherit. */
  async sendOwn(
    request: FastifyRequest,
    reply: FastifyReply,
    toContent: (own: OwnValues) => readonly SettingValueDto[],
  ): Promise<unknown> {
    this.#setCaching(reply) // also of a failure, which a cache must not give to another caller
    const tenant = (await this.#tenantOf(request))?.id
    const own = await readOwnValues(this.#service, ofUser(callerOf(request).id), tenant)
    return sendUnlessUnchanged(request, reply, toTaggedJson(toContent(own), audienceOf(request, tenant)))
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

/** For whom alone a list is. */
function audienceOf(request: FastifyRequest, tenant: string | undefined): string {
  return JSON.stringify([callerOf(request).id, tenant])
}
