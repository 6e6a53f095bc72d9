/** `GET /definitions`: what can be set, in the caller's language (S 4.1). */
import { addVary } from '@fastify-modular/core/internal'
import { Type } from '@sinclair/typebox'
import { createSelect, type DefinitionFilter } from '../../reading/list.ts'
import { callerOf } from '../access.ts'
import { sendUnlessUnchanged, type TaggedJson, toTaggedJson } from '../conditional.ts'
import type { LocalizedDefinitions, Localizer } from '../localized-definitions.ts'
import { operation } from '../operation.ts'
import { closed, nullable, Scope, search, Value } from '../schemas.ts'
import type { SettingsApp } from '../validator.ts'

const text = nullable(Type.String())

/** S 2.1. */
const Definition = Type.Object({
  key: Type.String(),
  displayName: Type.String(),
  description: text,
  group: text,
  scope: Scope,
  defaultValue: text,
  type: Type.Integer({ minimum: 0, maximum: 10 }),
  allowedValues: nullable(Type.Array(Type.String())),
  min: nullable(Type.Number()),
  max: nullable(Type.Number()),
  pattern: text,
  required: Type.Boolean(),
  sensitive: Type.Boolean(),
  order: Type.Integer(),
  placeholder: text,
  public: Type.Boolean(),
  options: nullable(
    Type.Array(Type.Object({ value: Type.String(), label: Type.String(), description: text })),
  ),
  unit: text,
  tags: Type.Array(Type.String()),
  hidden: Type.Boolean(),
  advanced: Type.Boolean(),
  showWhen: nullable(Type.Object({ key: Type.String(), equals: Value })),
  confirm: text,
  restart: Type.Boolean(),
  docsUrl: text,
  groupName: nullable(Type.String({ description: 'what to show for the group' })),
  valueSchema: Type.Unknown({ description: 'The JSON Schema of its values.' }),
})

export function addDefinitionRoutes(app: SettingsApp, localizer: Localizer): void {
  /** All definitions by language. */
  const bodies = new WeakMap<LocalizedDefinitions, TaggedJson>()

  app.get(
    '/definitions',
    operation({
      operationId: 'listSettingDefinitions',
      summary: 'List all definitions of settings',
      query: Type.Object(search, closed),
      ok: Type.Array(Definition),
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
