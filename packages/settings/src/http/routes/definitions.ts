/** `GET /definitions`: what can be set, in the caller's language. */
import { addVary } from '@fastify-modular/core/internal'
import { Type } from '@sinclair/typebox'
import { definitionSchema } from '../../definitions/definition-schema.ts'
import { callerOf } from '../access.ts'
import { sendUnlessUnchanged } from '../conditional.ts'
import type { RouteContext } from '../context.ts'
import { Localizer } from '../localized-definitions.ts'
import { operation } from '../operation.ts'
import { component, NoQuery, nullable, Scope } from '../schemas.ts'

/** A definition as it is declared, and what forms need besides. */
const Definition = component(
  'SettingDefinition',
  Type.Object({
    ...definitionSchema.properties,
    scope: Scope,
    canWrite: Type.Boolean({ description: 'whether the caller may write the shared value' }),
    probe: nullable(Type.String({ description: 'the resource that the caller may test before saving it' })),
    valueSchema: Type.Unknown({ description: 'The JSON Schema of its values.' }),
  }),
)

export function addDefinitionRoutes({ app, service, options }: RouteContext): void {
  const localizer = new Localizer({
    ...options,
    definitions: () => service.registry.getDefinitions(),
    probeOf: (key, mayWrite) => service.resources.probeOf(key, mayWrite),
    log: app.log,
  })
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
      const localized = localizer.localize(callerOf(request), request)
      reply.header('cache-control', 'private, no-cache')
      if (options.translate) {
        addVary(reply, 'Accept-Language')
        reply.header('content-language', localized.locale)
      }
      sendUnlessUnchanged(request, reply, localized)
    },
  )
}
