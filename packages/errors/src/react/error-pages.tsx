/** The error pages: what happened, and where to go. One for each status that the specification names, and one for all others (S 7.2.5). */
import type { ComponentType, CSSProperties, PropsWithChildren, ReactNode } from 'react'
import type { ErrorPageProps } from '../error-page.ts'

// System colours follow the reader's theme and contrast settings; style attributes need no stylesheet of the host.
const paper: CSSProperties = {
  colorScheme: 'light dark',
  background: 'Canvas',
  color: 'CanvasText',
  minHeight: '100vh',
  display: 'grid',
  placeItems: 'center',
  padding: '1.5rem',
  boxSizing: 'border-box',
  font: '1rem/1.6 system-ui, sans-serif',
}
const column: CSSProperties = { maxWidth: '32rem', paddingLeft: '1.5rem', borderLeft: '3px solid #b4452f' }
const small: CSSProperties = { margin: 0, opacity: 0.7, fontSize: '0.875rem', letterSpacing: '0.08em' }
const heading: CSSProperties = { margin: '0.25rem 0 0.75rem', fontSize: '1.75rem', lineHeight: 1.2 }
const text: CSSProperties = { margin: '0 0 1.5rem', overflowWrap: 'anywhere' }
const links: CSSProperties = { display: 'flex', flexWrap: 'wrap', gap: '1.5rem' }

/**
 * Status, title and message of any error, for a defect what to name when asking for help, then links to go on with. React 19 lifts the title into the document's head.
 * @param props.children other links than the one to the home page
 */
export function ErrorPage({
  status,
  title,
  message,
  requestId,
  children,
}: PropsWithChildren<ErrorPageProps>): ReactNode {
  return (
    <main style={paper}>
      <title>{title}</title>
      <div style={column}>
        <p style={small}>{status}</p>
        <h1 style={heading}>{title}</h1>
        <p style={text}>{message}</p>
        {requestId === undefined ? null : (
          <p style={text}>
            Reference: <code>{requestId}</code>
          </p>
        )}
        <nav aria-label="Where to go" style={links}>
          {children ?? <a href="/">Go to the home page</a>}
        </nav>
      </div>
    </main>
  )
}

/** `Error/403`: signed in, but not allowed. */
export const Error403 = ErrorPage

/** `Error/404`: there is no such page. */
export const Error404 = ErrorPage

/** `Error/500`: the server failed, and trying again may help. */
export function Error500(props: ErrorPageProps): ReactNode {
  return (
    <ErrorPage {...props}>
      <a href="">Try again</a>
      <a href="/">Go to the home page</a>
    </ErrorPage>
  )
}

/** Components by page name, to replace ours: `{ 'Error/404': Lost, fallback: Oops }`. */
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
