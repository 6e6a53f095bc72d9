/**
 * @fastify-modular/settings/store: the port between settings and a database, and what stores of your own are made of.
 * Experimental: it may change with any minor version.
 */
export { FMOD_SETTINGS_INVALID_WRITE, FMOD_SETTINGS_STORE_NOT_OPEN } from '../misuse-errors.ts'
export {
  canExist,
  checkWrite,
  compareRowIds,
  type Found,
  type FoundShared,
  historyOf,
  planWrite,
  rowIdText,
} from './plan-write.ts'
export { noRevision, parseRevision, type Revision, revisionId } from './revision.ts'
export { compareHistoryIds, selectHistory, selectPage } from './select-history.ts'
export type * from './store.ts'
export { TooManyWritesException, userHash } from './store.ts'
