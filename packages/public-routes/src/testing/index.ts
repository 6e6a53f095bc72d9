/** Helpers for the tests of applications behind the gate. */
export { expectPublicRoutes, publicRouteLines } from './expect-public-routes.ts'
