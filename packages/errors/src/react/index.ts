/** @fastify-modular/errors/react: the error pages of an Inertia front end. */
export type { ErrorPageProps } from '../error-page.ts'
export { ErrorPage } from './error-page.tsx'
export { Error403, Error404, Error500 } from './error-pages.tsx'
export { type ErrorPages, withErrorPages } from './with-error-pages.ts'
