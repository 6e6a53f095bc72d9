/** An error page: what happened, and where to go. */
import type { CSSProperties, PropsWithChildren, ReactNode } from 'react'
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
