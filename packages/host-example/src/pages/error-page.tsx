/** Every error page, inside the look of this application. */
import type { ErrorPageProps } from '@fastify-modular/errors/react'
import { Link } from '@inertiajs/react'
import type { ReactNode } from 'react'
import { Layout } from './layout.tsx'

export function ErrorPage({ status, title, message }: ErrorPageProps): ReactNode {
  return (
    <Layout title={`${status} ${title}`}>
      <section className="hero">
        <p className="muted">Error {status}</p>
        <h1>{title}</h1>
        <p className="lead">{message}</p>
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
