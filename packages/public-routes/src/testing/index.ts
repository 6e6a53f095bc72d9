/** Helpers for the tests of applications behind the gate. */
export { expectAccess, type ExpectAccessOptions } from './expect-access.ts'
export {
  expectPublicRoutes,
  type ExpectPublicRoutesOptions,
  publicRouteLines,
} from './expect-public-routes.ts'
