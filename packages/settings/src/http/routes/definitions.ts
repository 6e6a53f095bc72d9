/** `GET /definitions`: what can be set, in the caller's language. */
import { addVary } from '@fastify-modular/core/internal'
import { Type } from '@sinclair/typebox'
import { definitionSchema } from '../../definitions/definition-schema.ts'
import { callerOf } from '../access.ts'
import { sendUnlessUnchanged, type TaggedJson, toTaggedJson } from '../conditional.ts'
import type { LocalizedDefinitions, Localizer } from '../localized-definitions.ts'
import { operation } from '../operation.ts'
import { component, NoQuery, nullable, type SettingsApp } from '../schemas.ts'

/** A definition as it is declared, and what forms need besides. */
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
      query: NoQuery,
      ok: Type.Array(Definition, { headers: { 'Content-Language': { type: 'string' } } }),
      tag: 'compared',
    }),
    (request, reply) => {
      callerOf(request)
      const localized = localizer.forRequest(request)
      const { body, etag } = bodyOf(localized)
      reply.header('cache-control', 'private, no-cache')
      if (localizer.isActive) {
        addVary(reply, 'Accept-Language')
        reply.header('content-language', localized.locale)
      }
      sendUnlessUnchanged(request, reply, etag, () => body)
    },
  )

  function bodyOf(localized: LocalizedDefinitions): TaggedJson {
    const body = bodies.get(localized) ?? toTaggedJson(localized.definitions)
    bodies.set(localized, body)
    return body
  }
}
