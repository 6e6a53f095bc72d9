/** Helpers for the tests of applications behind the gate. */
export { expectAccess, type ExpectAccessOptions } from './expect-access.ts'
export { expectPublicRoutes, publicRouteLines } from './expect-public-routes.ts'
