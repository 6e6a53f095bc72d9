/** The HTTP API of settings (S 4.1): one row per route. Static paths win over `/:key`, whose keys may not be one of them. */
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import type { SettingsService } from '../create-settings.ts'
import { decorateCaller, openRoute } from './access.ts'
import { describeRoute as route } from './describe-route.ts'
import { createHistoryHandlers } from './routes/history.ts'
import { createDefinitionsHandler } from './routes/definitions.ts'
import {
  createListHandler,
  createReadHandlers,
  createWriteHandlers,
  refuseUserScope,
  type SensitiveResolved,
} from './routes/values.ts'
import { createMyHandlers, type OwnWrites } from './routes/own-values.ts'
import { answerProblem } from './problem.ts'
import { createLocalizer, type Translation } from './localized-definitions.ts'
import type * as routes from './route-types.ts'
import { rootSpellings } from './root-spellings.ts'
import * as schemas from './schemas.ts'
import { createTransferHandlers } from './routes/transfer.ts'
import { validatorCompiler } from './validator.ts'

/** What the routes need beside the service. */
export interface RoutesInit {
  readonly service: SettingsService
  readonly authenticate: onRequestHookHandler
  readonly ownWrites: OwnWrites
  readonly sensitiveResolved: SensitiveResolved
  readonly translation: Translation | undefined
  readonly maxBulkEntries: number
  /** Bytes of a bulk or an import. */
  readonly maxBulkBytes: number
}

/** Registers the routes in a scope of their own, whose prefix they stand under. */
export function addSettingsRoutes(app: FastifyInstance, init: RoutesInit): void {
  const { service, maxBulkBytes: bodyLimit } = init
  const reads = createReadHandlers(service, init.sensitiveResolved)
  const writes = createWriteHandlers(service, init.maxBulkEntries)
  const my = createMyHandlers(service, init.ownWrites)
  const past = createHistoryHandlers(service)
  const files = createTransferHandlers(service)
  const { definitions } = service.settings
  const localizer = createLocalizer(() => definitions.getDefinitions(), init.translation, app.log)
  const shared = { preValidation: refuseUserScope }
  const key = schemas.KeyParams

  decorateCaller(app)
  app.addHook('onRequest', init.authenticate)
  app.setValidatorCompiler(validatorCompiler)
  // Handlers answer with exactly what their schemas describe: to compile those would make booting the slower part.
  app.setSerializerCompiler(() => JSON.stringify)
  app.setErrorHandler(answerProblem)

  const list = createListHandler(service, localizer)
  for (const spelling of rootSpellings(app)) {
    app.get<routes.ListRoute>(
      '/',
      spelling.of(route('listSettings', { query: schemas.ListQuery, ok: schemas.SettingValues })),
      list,
    )
    app.put<routes.WriteRoute>(
      '/',
      {
        ...shared,
        ...spelling.of(route('updateSetting', { body: schemas.WriteBody, written: schemas.SettingValue })),
      },
      writes.put,
    )
  }
  app.get<routes.DefinitionsRoute>(
    '/definitions',
    route('listSettingDefinitions', { query: schemas.DefinitionsQuery, ok: schemas.Definitions }),
    createDefinitionsHandler(localizer),
  )
  app.get(
    '/public',
    { config: openRoute, ...route('getPublicSettings', { ok: schemas.PublicValues }) },
    reads.publicValues,
  )
  app.get<routes.ScopedRoute>(
    '/:key',
    route('getSetting', { params: key, query: schemas.ScopeQuery, ok: schemas.SettingValue }),
    reads.one,
  )
  app.get<routes.KeyRoute>(
    '/:key/resolved',
    route('getResolvedSetting', { params: key, ok: schemas.ResolvedValue }),
    reads.resolved,
  )
  app.put<routes.BulkRoute>(
    '/bulk',
    {
      ...shared,
      bodyLimit,
      ...route('updateSettings', {
        query: schemas.BulkQuery,
        body: schemas.BulkBody,
        written: schemas.BulkAnswer,
      }),
    },
    writes.bulk,
  )
  app.delete<routes.ScopedRoute>(
    '/:key',
    {
      ...shared,
      ...route('resetSetting', { params: key, query: schemas.ScopeQuery, written: schemas.SettingValue }),
    },
    writes.remove,
  )
  app.get('/me', route('listMySettings', { ok: schemas.OwnValues }), my.list)
  app.put<routes.OwnWriteRoute>(
    '/me',
    route('updateMySetting', { body: schemas.OwnBody, written: schemas.SettingValue }),
    my.put,
  )
  app.delete<routes.KeyRoute>(
    '/me/:key',
    route('resetMySetting', { params: key, written: schemas.SettingValue }),
    my.remove,
  )

  app.get<routes.KeyRoute>(
    '/:key/inspect',
    route('inspectSetting', { params: key, ok: schemas.Inspection }),
    past.inspect,
  )
  app.get<routes.HistoryRoute>(
    '/:key/history',
    route('listSettingHistory', {
      params: key,
      query: schemas.HistoryQuery,
      ok: schemas.HistoryPage,
    }),
    past.ofSetting,
  )
  app.get<routes.HistoryEntryRoute>(
    '/:key/history/:revision',
    route('getSettingHistoryEntry', {
      params: schemas.HistoryEntryParams,
      query: schemas.HistoryEntryQuery,
      ok: schemas.HistoryEntry,
    }),
    past.entry,
  )
  app.post<routes.RollbackRoute>(
    '/:key/rollback',
    route('rollbackSetting', { params: key, body: schemas.RollbackBody, written: schemas.SettingValue }),
    past.rollback,
  )
  app.get<routes.ChangesRoute>(
    '/changes',
    route('listSettingChanges', { query: schemas.PageQuery, ok: schemas.ChangesPage }),
    past.changes,
  )
  app.get('/export', route('exportSettings', { ok: schemas.ExportFile }), files.exportSettings)
  app.post<routes.ImportRoute>(
    '/import',
    {
      ...shared,
      bodyLimit,
      ...route('importSettings', {
        query: schemas.ImportQuery,
        body: schemas.ImportBody,
        ok: schemas.ImportResult,
      }),
    },
    files.importSettings,
  )
}
