/** @fastify-modular/settings/store: what stores of your own are made of. The port is `SettingsStore` of the package. */
export { FMOD_SETTINGS_INVALID_WRITE, FMOD_SETTINGS_STORE_NOT_OPEN } from '../misuse-errors.ts'
export {
  canExist,
  checkWrite,
  compareRowIds,
  type Found,
  historyOf,
  isOfUsers,
  planWrite,
  rowIdText,
} from './plan-write.ts'
export { compareHistoryIds, selectHistory } from './select-history.ts'
