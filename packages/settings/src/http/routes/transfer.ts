/** Export and import of System and Application values (System rows for administrators only). */
import { Type } from '@sinclair/typebox'
import type { SettingsService } from '../../create-settings.ts'
import { exportSettings, importSettings } from '../../history/transfer.ts'
import { updatePermission } from '../../visibility.ts'
import { toEtag } from '../../setting-definition.ts'
import { callerOf, refuseUserScope, sharedScopeOf, writeOptionsOf } from '../access.ts'
import { conditionOf } from '../conditional.ts'
import { operation } from '../operation.ts'
import {
  closed,
  decoded,
  DryRun,
  Key,
  Keys,
  Revision,
  Scope,
  ScopeInput,
  type SettingsApp,
  Value,
} from '../schemas.ts'

const Mode = decoded(Type.String({ pattern: '^(merge|replace)$', description: 'merge or replace' }), (text) =>
  text === 'replace' ? 'replace' : 'merge',
)
const RevisionText = decoded(
  Type.String({ pattern: '^[0-9]{1,15}$', description: 'the revision of a dry run' }),
  Number,
)

/** @param maxBytes of the body of an import */
export function addTransferRoutes(app: SettingsApp, service: SettingsService, maxBytes: number): void {
  addExportRoute(app, service)
  addImportRoute(app, service, maxBytes)
}

function addExportRoute(app: SettingsApp, service: SettingsService): void {
  app.get(
    '/export',
    operation({
      operationId: 'exportSettings',
      summary: 'All stored System and Application values except secrets',
      checkedByHandler: updatePermission,
      tag: 'sent',
      ok: Type.Object({
        format: Type.Literal(1),
        settings: Type.Array(Type.Object({ key: Type.String(), scope: Scope, value: Value })),
        omitted: Keys,
      }),
    }),
    async (request, reply) => {
      const file = exportSettings(service, { visibleTo: callerOf(request) })
      const etag = toEtag(service.sharedValues.revision)
      return reply.header('cache-control', 'no-store').header('etag', etag).send(file)
    },
  )
}

function addImportRoute(app: SettingsApp, service: SettingsService, maxBytes: number): void {
  app.post(
    '/import',
    {
      preValidation: refuseUserScope,
      bodyLimit: maxBytes,
      ...operation({
        operationId: 'importSettings',
        summary: 'Write an export, all or nothing',
        checkedByHandler: updatePermission,
        tag: 'sent',
        query: Type.Object(
          { mode: Type.Optional(Mode), dryRun: DryRun, revision: Type.Optional(RevisionText) },
          closed,
        ),
        body: Type.Object(
          {
            format: Type.Literal(1, { description: 'the format 1' }),
            settings: Type.Array(Type.Object({ key: Key, scope: ScopeInput, value: Value }, closed)),
            omitted: Type.Optional(Keys),
          },
          closed,
        ),
        ok: Type.Object({
          revision: Revision,
          create: Keys,
          update: Keys,
          delete: Keys,
          unchanged: Keys,
          unknown: Keys,
          kept: Keys,
          dryRun: Type.Boolean(),
        }),
      }),
    },
    async (request, reply) => {
      const settings = request.body.settings.map((entry) => ({
        ...entry,
        scope: sharedScopeOf(entry.scope, request),
      }))
      const options = { ...writeOptionsOf(request), origin: 'import', ...request.query }
      const report = await importSettings(
        service,
        { settings },
        { ...options, visibleTo: callerOf(request) },
        conditionOf(request),
      )
      return reply.header('etag', toEtag(report.revision)).header('cache-control', 'no-store').send(report)
    },
  )
}
