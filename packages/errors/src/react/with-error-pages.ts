/** Finds the component of an error page before the application's own pages are looked through (S 7.2.5). */
import type { ComponentType } from 'react'
import type { ErrorPageProps } from '../error-page.ts'
import { ErrorPage } from './error-page.tsx'
import { Error403, Error404, Error500 } from './error-pages.tsx'

/** Components by page name, for a look of one's own: `{ 'Error/404': Lost, fallback: Oops }`. */
export type ErrorPages = Readonly<Record<`Error/${number}` | 'fallback', ComponentType<ErrorPageProps>>>

const ownPages: Partial<ErrorPages> & Pick<ErrorPages, 'fallback'> = {
  'Error/403': Error403,
  'Error/404': Error404,
  'Error/500': Error500,
  fallback: ErrorPage,
}

/**
 * The `resolve` of `createInertiaApp` with error pages in front:
 * `resolve: withErrorPages((name) => pages[name])`. Every `Error/{status}` finds a component; the client shows nothing
 * at all for a page without one.
 */
export function withErrorPages<More extends unknown[], Resolved>(
  resolve: (name: string, ...more: More) => Resolved,
  pages: Partial<ErrorPages> = {},
): (name: string, ...more: More) => Resolved | ComponentType<ErrorPageProps> {
  const all: Readonly<Record<string, ComponentType<ErrorPageProps> | undefined>> = { ...ownPages, ...pages }
  const fallback = pages.fallback ?? ownPages.fallback
  return (name, ...more) => (/^Error\/\d{3}$/.test(name) ? (all[name] ?? fallback) : resolve(name, ...more))
}
