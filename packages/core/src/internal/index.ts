/**
 * @fastify-modular/core/internal: what the packages of one release share. Not for applications or other packages: it may
 * change with each minor version, which `checkCoreVersion` proves at registration.
 */
export { acceptedLocales, canonicalLocale } from './accept-language.ts'
export { isApiTarget, isNavigation, prefersHtml, prefersJson } from './negotiation.ts'
export { canonicalPath, fullyDecoded, maxPathLength } from './canonical-path.ts'
export { createFindCaller, findCallerOf, findTestCaller } from '../caller.ts'
export { closestName } from './closest-name.ts'
export { checkCoreVersion, supportedFastify } from './core-version.ts'
export { type AnswerFailure, answerFailure, getDecorator } from './decorators.ts'
export { type DescribedError, describeError, logFailure } from './failures.ts'
export { FileLock } from './file-lock.ts'
export { mountingModule, precedesGate } from './mounting.ts'
export type { PageRenderer, PageRequest, RenderedPage } from './pages.ts'
export {
  createConfigReader,
  isRequestLoggingDisabled,
  removeTrailers,
  type RouteConfig,
  routerEntries,
} from './fastify-internals.ts'
export {
  isNodeSqlite,
  nodeSqlite,
  NodeSqliteConnection,
  type NodeSqliteDatabase,
  sqliteCodeOf,
} from './node-sqlite.ts'
export { compileSchemaErrors, type SchemaError } from './json-schema.ts'
export { createMisuseError, type MisuseError, type MisuseErrorClass } from './misuse-error.ts'
export {
  argumentProblems,
  option,
  optionProblems,
  type OptionsSchema,
  type TSchema,
  Type,
} from './options.ts'
export { isThenable, safeKeys, safeRead, safeText, truncate } from './safe.ts'
export { withTimeout } from './timeout.ts'
export { acceptedEncoding, addVary, varyWith } from './negotiation.ts'
