/** Export and import of System and Application values (System rows for administrators only). */
import { Type } from '@sinclair/typebox'
import { exportSettings, importSettings } from '../../history/transfer.ts'
import { bulkLimits } from '../../options.ts'
import { updatePermission } from '../../visibility.ts'
import { toEtag } from '../../setting-definition.ts'
import { callerOf, refuseTooMany, refuseUserScope, requireUpdate, writeOptionsOf } from '../access.ts'
import { conditionOf } from '../conditional.ts'
import type { RouteContext } from '../context.ts'
import { operation } from '../operation.ts'
import {
  closed,
  ConfirmWithin,
  decoded,
  DryRun,
  Key,
  Keys,
  Revision,
  Scope,
  ScopeInput,
  Value,
} from '../schemas.ts'
import { announceWindow } from './windows.ts'

const Mode = decoded(Type.String({ pattern: '^(merge|replace)$', description: 'merge or replace' }), (text) =>
  text === 'replace' ? 'replace' : 'merge',
)

export function addTransferRoutes(context: RouteContext): void {
  addExportRoute(context)
  addImportRoute(context)
}

function addExportRoute({ app, service }: RouteContext): void {
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
      reply.header('etag', toEtag(service.sharedValues.revision))
      return file
    },
  )
}

function addImportRoute({ app, service, options }: RouteContext): void {
  const { bulkEntries, bodyBytes } = bulkLimits(options)
  app.post(
    '/import',
    {
      preValidation: refuseUserScope,
      bodyLimit: bodyBytes,
      ...operation({
        operationId: 'importSettings',
        summary: 'Write an export, all or nothing',
        checkedByHandler: updatePermission,
        tag: 'sent',
        query: Type.Object(
          { mode: Type.Optional(Mode), dryRun: DryRun, confirmWithin: ConfirmWithin },
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
      const caller = requireUpdate(request)
      refuseTooMany('import', request.body.settings, bulkEntries)
      const who = { ...writeOptionsOf(request), origin: 'import', as: caller }
      const { report, window } = await importSettings(
        service,
        request.body,
        { ...who, ...request.query },
        conditionOf(request),
      )
      announceWindow(reply, window)
      reply.header('etag', toEtag(report.revision))
      return report
    },
  )
}
