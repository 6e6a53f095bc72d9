/**
 * @fastify-modular/core/internal: what the packages of one release share. Not for applications or other packages: it may
 * change with each minor version; the peer range of the packages accepts the core of their own alone.
 */
export { canonicalPath, fullyDecoded, maxPathLength } from './canonical-path.ts'
export { type ChallengeError, findTestCaller, knowsCallers, readCaller } from '../caller.ts'
export { closestName } from './closest-name.ts'
export { type AnswerFailure, branded, getDecorator, hasOwnDecorator, refuseSecond } from './decorators.ts'
export { describeError, logFailure } from './failures.ts'
export { FileLock } from './file-lock.ts'
export { type AccessOfPlugin, declareAccess, mountingModule } from './mounting.ts'
export type { PageRenderer, PageRequest, RenderedPage } from './pages.ts'
export {
  checkCalls,
  createConfigReader,
  guardErrorSerializer,
  isRequestLoggingDisabled,
  ownSendOf,
  removeTrailers,
  replaceSend,
  type RouteConfig,
  routerEntries,
  silently,
  supportedFastify,
} from './fastify-internals.ts'
export {
  isNodeSqlite,
  nodeSqlite,
  NodeSqliteConnection,
  type NodeSqliteDatabase,
  sqliteCodeOf,
} from './node-sqlite.ts'
export { compileSchemaErrors, type SchemaError } from './json-schema.ts'
export { currentCommand, decorateCommand, type Finding, orFinding, report } from './command.ts'
export {
  createErrorCodes,
  FMOD_CORE_ADDED_LATE,
  FMOD_CORE_INVALID_OPTION,
  FMOD_CORE_REGISTERED_TWICE,
  type MisuseErrorClass,
} from '../misuse-errors.ts'
export {
  argumentProblems,
  option,
  optionProblems,
  type OptionsSchema,
  refuseOptions,
  type TSchema,
  Type,
} from './options.ts'
export {
  isStandardSchema,
  jsonSchemaOf,
  type StandardIssue,
  type StandardOutput,
  type StandardSchema,
  validateStandard,
} from './standard-schema.ts'
export { ignoreRejection, isPlainObject, isThenable, safeKeys, safeRead, safeText, truncate } from './safe.ts'
export { accessOfPlugin, answerFailure, challenge, mayBeUnhandled, precedesGate } from '../symbols.ts'
export { withTimeout } from './timeout.ts'
export {
  acceptedEncoding,
  acceptedLocales,
  addVary,
  canonicalLocale,
  isApiTarget,
  isNavigation,
  isRead,
  prefersHtml,
  prefersJson,
  varyWith,
} from './negotiation.ts'
