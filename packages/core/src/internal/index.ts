/**
 * @fastify-modular/core/internal: what the packages of one release share. Not for applications or other packages: it may
 * change with each minor version; the peer range of the packages accepts the core of their own alone.
 */
export * from './canonical-path.ts'
export { type ChallengeError, findTestCaller, knowsCallers, readCaller } from '../caller.ts'
export * from './closest-name.ts'
export { currentCommand, decorateCommand, type Finding, orFinding, report } from './command.ts'
export * from './decorators.ts'
export { describeError, logFailure } from './failures.ts'
export * from './fastify-internals.ts'
export * from './file-lock.ts'
export * from './json-schema.ts'
export {
  createErrorCodes,
  FMOD_CORE_ADDED_LATE,
  FMOD_CORE_INVALID_OPTION,
  FMOD_CORE_REGISTERED_TWICE,
  type MisuseErrorClass,
} from '../misuse-errors.ts'
export { type AccessOfPlugin, declareAccess, mountingModule } from './mounting.ts'
export * from './negotiation.ts'
export * from './node-sqlite.ts'
export * from './options.ts'
export * from './pages.ts'
export * from './safe.ts'
export * from './standard-schema.ts'
export { accessOfPlugin, answerFailure, challenge, mayBeUnhandled, precedesGate } from '../symbols.ts'
export { withTimeout } from './timeout.ts'
