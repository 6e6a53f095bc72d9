/** The frame of every page: skip link, header, notices, footer. */
import { Head as Title, Link, router, usePage } from '@inertiajs/react'
import { type ReactNode, useEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import { format, type Texts } from '../texts/texts.ts'
import { accentPath } from '../web/accent-path.ts'
import type { Look } from '../web/look.ts'
import type { User } from '../web/shared-props.ts'
import { Face, Icon, Logo } from './drawings.tsx'
import { Palette } from './palette.tsx'
import { mailTo, useLook, useShared, useTexts } from './shared.ts'
import { isTrying } from './tried.ts'

interface LayoutProps {
  readonly title: string
  readonly children: ReactNode
}

export function Layout({ title, children }: LayoutProps): ReactNode {
  const { user } = useShared()
  const app = useCrossFade(useLook())
  const texts = useTexts()
  const appTitle = app?.title ?? 'Fastify Modular'

  useEffect(() => {
    if (!app) return
    const { documentElement } = document
    documentElement.lang = app.language
    Object.assign(documentElement.dataset, { theme: app.theme, density: app.density })
    // The policy allows no style within the document.
    document.querySelector('#accent')?.setAttribute('href', accentPath(app.accent))
  }, [app?.language, app?.theme, app?.density, app?.accent])

  return (
    <>
      <Title title={`${title} · ${appTitle}`} />
      <a className="skip" href="#main">
        {texts.skip}
      </a>
      <header className="row top">
        {/* A document, whose policy allows a frame. */}
        <a href="/" className="row brand">
          <Logo name={app?.logo ?? 'note'} />
          <span className="one-line" data-fm-preview="title">
            {appTitle}
          </span>
        </a>
        <nav className="row" aria-label={texts.main}>
          <NavLinks />
        </nav>
        <div className="row session">
          {user ? (
            <>
              <Palette user={user} />
              <Account user={user} />
            </>
          ) : (
            <a className="button" href="/login">
              {texts.signIn}
            </a>
          )}
        </div>
      </header>
      <Notices app={app} />
      {children}
      <Footer />
    </>
  )
}

/** What somebody has saved fades in, in the header and the banner. What is tried follows each key. */
function useCrossFade(look: Look | undefined): Look | undefined {
  const [shown, setShown] = useState(look)
  useEffect(() => {
    const isStill = isTrying() || matchMedia('(prefers-reduced-motion: reduce)').matches
    const fade = !isStill && shown !== look ? document.startViewTransition : undefined
    if (fade) fade.call(document, () => flushSync(() => setShown(look))).ready.catch(() => undefined) // a hidden page
    else setShown(look)
  }, [JSON.stringify(look)])
  return shown
}

/** The pages that the caller may use. */
function NavLinks(): ReactNode {
  const { url } = usePage()
  const { user } = useShared()
  const texts = useTexts()
  const path = url.split(/[?#]/, 1)[0]
  const links = {
    '/notes': texts.notes,
    ...(user?.isAdmin && { '/mails': texts.mail }),
    ...(user?.canUpdateSettings && { '/settings/manage': texts.settings }),
    '/api/docs': texts.api,
  }
  return Object.entries(links).map(([href, label]) => (
    <Link className="row" key={href} href={href} aria-current={path === href ? 'page' : undefined}>
      {label}
    </Link>
  ))
}

/**
 * Signing out is a plain form: the next page is loaded afresh, so that nothing of the session stays in memory. What the
 * history has of it is unreadable from here on, although scripts of the next page have not run yet.
 */
function Account({ user }: { user: User }): ReactNode {
  const texts = useTexts()
  return (
    <>
      <button className="me" type="button" popoverTarget="me">
        <Face id={user.id} name={user.name} />
        <span className="unseen">{format(texts.account, { name: user.name })}</span>
      </button>
      <div className="menu" id="me" popover="auto">
        <p className="small">
          {user.name} · {roleOf(texts, user)}
        </p>
        <div className="menu-nav">
          <NavLinks />
        </div>
        <Link className="row" href="/settings/preferences">
          <Icon name="sliders" />
          {texts.preferences}
        </Link>
        <form method="post" action="/logout" onSubmit={() => router.clearHistory()}>
          <button className="row" type="submit">
            <Icon name="out" />
            {texts.signOut}
          </button>
        </form>
      </div>
    </>
  )
}

/** What an account is for, in words. */
export function roleOf(
  texts: Texts,
  { isAdmin, canUpdateSettings }: Pick<User, 'isAdmin' | 'canUpdateSettings'>,
): string {
  return isAdmin ? texts.administrator : canUpdateSettings ? texts.editor : texts.member
}

/** What everybody is to know: that maintenance goes on, and the banner. */
function Notices({ app }: { app: Look | undefined }): ReactNode {
  const { user } = useShared()
  const texts = useTexts()
  return (
    <aside aria-label={texts.notices}>
      {app?.isInMaintenance ? (
        <p className="banner is-warn">
          <strong>{texts.maintenanceIsOn}</strong> {texts.onlyAdministrators}{' '}
          {user?.isAdmin ? (
            <a href="/settings/manage#setting:system.maintenance_mode">{texts.turnItOff}</a>
          ) : null}
        </p>
      ) : null}
      <p className="banner" data-fm-preview="banner">
        {app?.banner}
      </p>
    </aside>
  )
}

function Footer(): ReactNode {
  const app = useLook()
  const texts = useTexts()
  return (
    <footer className="row foot small">
      <span>{app?.title}</span>
      {app?.homepageUrl ? <a href={app.homepageUrl}>{new URL(app.homepageUrl).host}</a> : null}
      {app?.supportEmail ? <a href={mailTo(app.supportEmail)}>{texts.help}</a> : null}
      <Link href="/api/docs">{texts.api}</Link>
    </footer>
  )
}
