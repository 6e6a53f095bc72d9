/** Helpers for the tests of applications behind the gate. */
export { expectAccess, type ExpectAccessOptions } from './expect-access.ts'
export type { Sample } from '../review/attempt.ts'
