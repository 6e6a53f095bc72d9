/** What the requests that write have in common: whose they are, which scope they name, how they are answered. */
import type { FastifyReply, FastifyRequest, preValidationHookHandler } from 'fastify'
import { InvalidScopeException } from '../exceptions.ts'
import type { SettingValueDto } from '../reading/dto.ts'
import { SettingScope, type SharedScope } from '../setting-definition.ts'
import type { WriteOptions } from '../write/write.ts'
import { callerOf } from './access.ts'
import { parseScope } from './schemas.ts'

/** Refuses User scope before the rest of the request is checked (S 4.1.1). */
export const refuseUserScope: preValidationHookHandler = (request, _reply, done) => {
  const items = Array.isArray(request.body) ? request.body : [request.body, request.query]
  done(items.some(isUserScoped) ? new InvalidScopeException() : undefined)
}

function isUserScoped(item: unknown): boolean {
  return (
    typeof item === 'object' &&
    item !== null &&
    'scope' in item &&
    parseScope(item.scope) === SettingScope.User
  )
}

/** The scope of a row that belongs to no user. @throws {InvalidScopeException} User scope */
export function sharedScopeOf(scope: SettingScope): SharedScope {
  if (scope === SettingScope.User) throw new InvalidScopeException()
  return scope
}

/** The origin of a write, as history and events record it. */
export function writeOptionsOf(request: FastifyRequest): WriteOptions {
  return { actor: callerOf(request).id, origin: 'api', requestId: String(request.id).slice(0, 200) }
}

/** Answers 204, or 200 with what is stored now where the request prefers that (RFC 7240). */
export function answerRepresentation(
  request: FastifyRequest,
  reply: FastifyReply,
  etag: string,
  stored: () => SettingValueDto | readonly SettingValueDto[],
): FastifyReply {
  reply.header('etag', etag).header('cache-control', 'no-store')
  if (!prefersRepresentation(request)) return reply.code(204).send()
  return reply.code(200).header('preference-applied', 'return=representation').send(stored())
}

function prefersRepresentation({ headers }: FastifyRequest): boolean {
  return String(headers.prefer ?? '')
    .split(/[,;]/)
    .some((item) => /^\s*return=(?:representation|"representation")\s*$/i.test(item))
}
