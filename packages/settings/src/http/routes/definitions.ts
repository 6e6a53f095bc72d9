/** `GET /definitions`: what can be set, in the caller's language (S 4.1). */
import { addVary } from '@fastify-modular/core/internal'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createSelect } from '../../reading/list.ts'
import type { CompleteDefinition } from '../../setting-definition.ts'
import { type ValueSchema, valueSchema } from '../../values/value-schema.ts'
import { callerOf } from '../access.ts'
import { isUnchanged, type KeptBody, toKeptBody } from '../conditional.ts'
import type { LocalizedDefinitions, Localizer } from '../localized-definitions.ts'
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

/** A definition without the default of a sensitive setting, with the JSON Schema of its values. */
export interface SettingDefinitionDto extends CompleteDefinition {
  /** What to show for `group`, which itself names the group in requests. */
  readonly groupName: string | null
  readonly valueSchema: ValueSchema
}

/** Masks a definition and adds what clients need to make a form of it. */
export function toDefinitionDto(definition: CompleteDefinition): SettingDefinitionDto {
  return {
    ...definition,
    defaultValue: definition.sensitive ? null : definition.defaultValue,
    groupName: definition.group,
    valueSchema: valueSchema(definition),
  }
}
