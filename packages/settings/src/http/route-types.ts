/** The types of requests, from the schemas that check them. */
import type { Static } from '@sinclair/typebox'
import type * as schemas from './schemas.ts'

export interface ListRoute {
  Querystring: Static<typeof schemas.ListQuery>
}
export interface DefinitionsRoute {
  Querystring: Static<typeof schemas.DefinitionsQuery>
}
export interface KeyRoute {
  Params: Static<typeof schemas.KeyParams>
}
export interface ScopedRoute extends KeyRoute {
  Querystring: Static<typeof schemas.ScopeQuery>
}
export interface WriteRoute {
  Body: Static<typeof schemas.WriteBody>
}
export interface BulkRoute {
  Body: Static<typeof schemas.BulkBody>
  Querystring: Static<typeof schemas.BulkQuery>
}
export interface OwnWriteRoute {
  Body: Static<typeof schemas.OwnBody>
}
export interface HistoryRoute extends KeyRoute {
  Querystring: Static<typeof schemas.HistoryQuery>
}
export interface HistoryEntryRoute {
  Params: Static<typeof schemas.HistoryEntryParams>
  Querystring: Static<typeof schemas.HistoryEntryQuery>
}
export interface ChangesRoute {
  Querystring: Static<typeof schemas.PageQuery>
}
export interface RollbackRoute extends KeyRoute {
  Body: Static<typeof schemas.RollbackBody>
}
export interface ImportRoute {
  Body: Static<typeof schemas.ImportBody>
  Querystring: Static<typeof schemas.ImportQuery>
}
