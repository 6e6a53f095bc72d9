/** `GET /definitions`: what can be set (S 4.1). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createSelect } from '../../service/read/select.ts'
import type { SettingsService } from '../../service/service.ts'
import { toDefinitionDto } from '../definition-dto.ts'
import { type KeptBody, toKeptBody } from '../kept-body.ts'
import { isUnchanged } from '../preconditions.ts'
import type { DefinitionsRoute } from '../route-types.ts'

export function createDefinitionsHandler({ settings }: SettingsService) {
  let all: KeptBody | undefined

  function listOf(filter: DefinitionsRoute['Querystring']): KeptBody {
    const isSelected = createSelect(filter)
    const definitions = settings.definitions.getDefinitions()
    if (isSelected) return toKeptBody(definitions.filter(isSelected).map(toDefinitionDto))
    // Definitions are frozen once the application is ready (decision 5).
    all ??= toKeptBody(definitions.map(toDefinitionDto))
    return all
  }

  return function definitions(request: FastifyRequest<DefinitionsRoute>, reply: FastifyReply): void {
    const { body, etag } = listOf(request.query)
    reply.header('cache-control', 'private, no-cache').header('etag', etag)
    if (isUnchanged(request, etag)) reply.code(304).send()
    else reply.type('application/json; charset=utf-8').send(body)
  }
}
