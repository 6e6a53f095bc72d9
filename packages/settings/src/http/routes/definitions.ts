/** `GET /definitions`: what can be set, in the caller's language (S 4.1). */
import { addVary } from '@fastify-modular/core/internal'
import { Type } from '@sinclair/typebox'
import { definitionSchema } from '../../definitions/definition-schema.ts'
import { createSelect, type DefinitionFilter } from '../../reading/list.ts'
import { callerOf } from '../access.ts'
import { sendUnlessUnchanged, type TaggedJson, toTaggedJson } from '../conditional.ts'
import type { LocalizedDefinitions, Localizer } from '../localized-definitions.ts'
import { operation } from '../operation.ts'
import { closed, component, nullable, search, type SettingsApp } from '../schemas.ts'

/** A definition as it is declared (S 2.1), and what forms need besides. */
const Definition = component(
  'SettingDefinition',
  Type.Object({
    ...definitionSchema.properties,
    groupName: nullable(Type.String({ description: 'what to show for the group' })),
    valueSchema: Type.Unknown({ description: 'The JSON Schema of its values.' }),
  }),
)

export function addDefinitionRoutes(app: SettingsApp, localizer: Localizer): void {
  /** All definitions by language. */
  const bodies = new WeakMap<LocalizedDefinitions, TaggedJson>()

  app.get(
    '/definitions',
    operation({
      operationId: 'listSettingDefinitions',
      summary: 'List all definitions of settings',
      query: Type.Object(search, closed),
      ok: Type.Array(Definition, { headers: { 'Content-Language': { type: 'string' } } }),
      tag: 'compared',
    }),
    (request, reply) => {
      callerOf(request)
      const localized = localizer.forRequest(request)
      const { body, etag } = bodyOf(localized, request.query)
      reply.header('cache-control', 'private, no-cache')
      if (localizer.isActive) {
        addVary(reply, 'Accept-Language')
        reply.header('content-language', localized.locale)
      }
      sendUnlessUnchanged(request, reply, etag, () => body)
    },
  )

  function bodyOf(localized: LocalizedDefinitions, filter: DefinitionFilter): TaggedJson {
    const { definitions, translations } = localized
    const isSelected = createSelect(filter, translations)
    if (isSelected) return toTaggedJson(definitions.filter(isSelected))
    const body = bodies.get(localized) ?? toTaggedJson(definitions)
    bodies.set(localized, body)
    return body
  }
}
