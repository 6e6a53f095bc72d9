/** What surrounds the content of every page: skip link, header, banner, footer. */
import { Link, usePage } from '@inertiajs/react'
import { type ReactNode, useEffect } from 'react'
import type { SharedProps } from '../shared-props.ts'

export function Layout({ title, children }: { title: string; children: ReactNode }): ReactNode {
  const { app, user } = useSharedProps()
  const appTitle = app?.title ?? 'Fastify Modular'

  useEffect(() => {
    document.title = `${title} · ${appTitle}`
    const { dataset, style } = document.documentElement
    if (!app) return // the page of a failed request says nothing about the look: it stays
    dataset['theme'] = app.theme
    style.setProperty('--accent', app.primaryColor)
  }, [title, appTitle, app])

  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="site">
        <Link href="/" className="brand">
          <span className="logo" aria-hidden="true" />
          {appTitle}
        </Link>
        <nav aria-label="Main">
          <NavLink href="/notes">Notes</NavLink>
          {user?.isAdmin ? <NavLink href="/mails">Mail</NavLink> : null}
          {user?.isAdmin ? <NavLink href="/dead-letters">Dead letters</NavLink> : null}
          {user?.canUpdateSettings ? <NavLink href="/inertia/settings">Settings</NavLink> : null}
          {user ? <NavLink href="/inertia/preferences">Preferences</NavLink> : null}
          <a href="/api/docs">API</a>
        </nav>
        {user === undefined ? null : <Session name={user?.name} />}
      </header>
      <Notices />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <footer className="site muted">
        Built with Fastify and @fastify-modular
        {app?.supportEmail ? <a href={`mailto:${app.supportEmail}`}>Help</a> : null}
      </footer>
    </>
  )
}

/** A link that says when it leads to where one is. */
function NavLink({ href, children }: { href: string; children: ReactNode }): ReactNode {
  const { url } = usePage()
  return (
    <Link href={href} aria-current={url.split('?', 1)[0] === href ? 'page' : undefined}>
      {children}
    </Link>
  )
}

/** The banner for all, and for administrators a reminder that maintenance mode is on. */
function Notices(): ReactNode {
  const { app } = useSharedProps()
  if (!app?.banner && !app?.isInMaintenance) return null
  return (
    <aside aria-label="Notices">
      {app.isInMaintenance ? (
        <p className="maintenance">
          <strong>Maintenance mode is on.</strong> Only administrators get in.{' '}
          <a href="/inertia/settings#setting:system.maintenance_mode">Turn it off</a>
        </p>
      ) : null}
      {app.banner ? <p className="banner">{app.banner}</p> : null}
    </aside>
  )
}

/** A plain form: signing out loads the next page afresh, so that nothing of the session stays in memory. */
function Session({ name }: { name: string | undefined }): ReactNode {
  if (name === undefined) {
    return (
      <a className="button" href="/login">
        Sign in
      </a>
    )
  }
  return (
    <form method="post" action="/logout" className="session">
      <span className="muted">
        Signed in as <strong>{name}</strong>
      </span>
      <button type="submit">Sign out</button>
    </form>
  )
}

/** The props that the server sends with every page. Error pages of failed requests come without them. */
export function useSharedProps(): Partial<SharedProps> {
  return usePage<Partial<SharedProps>>().props
}
