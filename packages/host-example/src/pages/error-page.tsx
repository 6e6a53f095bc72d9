/** Every error page, inside the look of this application. */
import type { ErrorPageProps } from '@fastify-modular/errors/react'
import { Link } from '@inertiajs/react'
import type { ReactNode } from 'react'
import { Layout } from './layout.tsx'

/** The server does not publish the reason; readers learn that it is temporary and not their mistake. */
const unavailable =
  'The application is closed for maintenance, or something it needs is down. Please try again in a few minutes.'

export function ErrorPage({ status, title, message, requestId }: ErrorPageProps): ReactNode {
  return (
    <Layout title={`${status} ${title}`}>
      <section className="hero">
        <p className="muted">Error {status}</p>
        <h1>{title}</h1>
        <p className="lead">{status === 503 ? unavailable : message}</p>
        {requestId === undefined ? null : (
          <p className="muted">
            When you ask for help, name the reference <code>{requestId}</code>.
          </p>
        )}
        <p className="actions">
          <Link className="button primary" href="/">
            Go to the home page
          </Link>
          {status >= 500 ? <a href="">Try again</a> : null}
        </p>
      </section>
    </Layout>
  )
}
