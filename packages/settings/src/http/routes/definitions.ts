/** `GET /definitions`: what can be set, in the caller's language. */
import { addVary } from '@fastify-modular/core/internal'
import { Type } from '@sinclair/typebox'
import { definitionSchema } from '../../definitions/definition-schema.ts'
import { callerOf } from '../access.ts'
import { sendUnlessUnchanged } from '../conditional.ts'
import type { Localizer } from '../localized-definitions.ts'
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
      const { body, etag, locale } = localizer.forRequest(request)
      reply.header('cache-control', 'private, no-cache')
      if (localizer.isActive) {
        addVary(reply, 'Accept-Language')
        reply.header('content-language', locale)
      }
      sendUnlessUnchanged(request, reply, etag, () => body)
    },
  )
}
