/** `GET /definitions`: what can be set, in the caller's language (S 4.1). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createSelect } from '../../service/read/select.ts'
import { callerOf } from '../access.ts'
import { type KeptBody, toKeptBody } from '../caching/kept-body.ts'
import type { LocalizedDefinitions, Localizer } from '../localize/localizer.ts'
import { addVary } from '../caching/vary.ts'
import { isUnchanged } from '../caching/preconditions.ts'
import type { DefinitionsRoute } from '../route-types.ts'

export function createDefinitionsHandler(localizer: Localizer) {
  const kept = new WeakMap<LocalizedDefinitions, KeptBody>()

  function listOf(localized: LocalizedDefinitions, filter: DefinitionsRoute['Querystring']): KeptBody {
    const { definitions, translations } = localized
    const isSelected = createSelect(filter, translations)
    if (isSelected) return toKeptBody(definitions.filter(isSelected))
    const body = kept.get(localized) ?? toKeptBody(definitions)
    kept.set(localized, body)
    return body
  }

  return function definitions(request: FastifyRequest<DefinitionsRoute>, reply: FastifyReply): void {
    callerOf(request)
    const localized = localizer.forRequest(request)
    const { body, etag } = listOf(localized, request.query)
    reply.header('cache-control', 'private, no-cache').header('etag', etag)
    if (localizer.isActive) {
      addVary(reply, 'Accept-Language')
      reply.header('content-language', localized.locale)
    }
    if (isUnchanged(request, etag)) reply.code(304).send()
    else reply.type('application/json; charset=utf-8').send(body)
  }
}
