/** @fastify-modular/errors/react: the error pages of an Inertia front end. */
export type { ErrorPageProps } from '../error-page.ts'
export { Error403, Error404, Error500, ErrorPage, type ErrorPages, withErrorPages } from './error-pages.tsx'
