/** The public home page. */
import { Link } from '@inertiajs/react'
import type { ReactNode } from 'react'
import { Layout } from './layout.tsx'
import { useSharedProps } from './layout.tsx'

export function Home(): ReactNode {
  const { app, user } = useSharedProps()
  return (
    <Layout title="Home">
      <section className="hero">
        <h1>{app?.title}</h1>
        <p className="lead">
          Notes that belong to you, and to everybody you share them with. One small application that shows
          settings, public routes, events and error pages at work.
        </p>
        <p className="actions">
          {user ? (
            <Link className="button primary" href="/notes">
              Your notes
            </Link>
          ) : (
            <a className="button primary" href="/login?returnTo=/notes">
              Sign in
            </a>
          )}
          <a className="button" href="/api/docs">
            Browse the API
          </a>
        </p>
      </section>
      <ul className="features">
        <li className="card">
          <h2>Private until shared</h2>
          <p>Only you and administrators read a note. Share it, and its link works without signing in.</p>
        </li>
        <li className="card">
          <h2>Settings that apply at once</h2>
          <p>Title, banner, colours and maintenance mode change while the application runs.</p>
        </li>
        <li className="card">
          <h2>Errors that explain themselves</h2>
          <p>
            People get pages, programs get problem details. See <Link href="/error/404">404</Link>,{' '}
            <Link href="/error/403">403</Link> and <Link href="/error/500">500</Link>.
          </p>
        </li>
      </ul>
    </Layout>
  )
}
