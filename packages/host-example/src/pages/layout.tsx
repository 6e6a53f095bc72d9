/** What surrounds the content of every page: skip link, header, notices, footer. */
import { createLiveClient } from '@fastify-modular/settings/client/live'
import { SettingsProvider } from '@fastify-modular/settings/react'
import { accentShades } from '@fastify-modular/settings-ui/react'
import { Link, usePage } from '@inertiajs/react'
import { type ReactNode, useEffect } from 'react'
import type { User } from '../web/shared-props.ts'
import { maintenanceSwitch, navigation, roleOf } from '../web/site-header.ts'
import { format } from '../texts/texts.ts'
import { Face, Icon, Logo } from './drawings.tsx'
import { mailTo, useLook, useShared, useTexts } from './shared.ts'

interface LayoutProps {
  readonly title: string
  readonly children: ReactNode
}

/** What follows settings; strangers are told of public ones. */
const clients = { ofUser: createLiveClient(), ofStranger: createLiveClient({ public: true }) }

export function Layout(props: LayoutProps): ReactNode {
  const { user } = useShared()
  return (
    <SettingsProvider client={user ? clients.ofUser : clients.ofStranger}>
      <Frame {...props} />
    </SettingsProvider>
  )
}

function Frame({ title, children }: LayoutProps): ReactNode {
  const { user } = useShared()
  const app = useLook()
  const texts = useTexts()
  const appTitle = app?.title ?? 'Fastify Modular'

  useEffect(() => {
    document.title = `${title} · ${appTitle}`
    const { dataset, style } = document.documentElement
    if (!app) return
    document.documentElement.lang = app.language
    dataset['theme'] = app.theme
    dataset['density'] = app.density
    style.setProperty('--fm-accent', accentShades(app.accent).token)
  }, [title, appTitle, app])

  return (
    <>
      <a className="skip" href="#main">
        {texts.skip}
      </a>
      <header className="top">
        <Link href="/" className="brand">
          <Logo name={app?.logo ?? 'note'} />
          <span className="one-line">{appTitle}</span>
        </Link>
        <nav aria-label={texts.main}>
          <NavLinks />
        </nav>
        <div className="session">
          <span id="fm-preview" />
          {user ? (
            <Account user={user} />
          ) : (
            <a className="button" href="/login">
              {texts.signIn}
            </a>
          )}
        </div>
      </header>
      <Notices />
      {children}
      <Footer />
    </>
  )
}

/** The API's page is not Inertia's: it is loaded whole. */
function NavLinks(): ReactNode {
  const { url } = usePage()
  const { user = null } = useShared()
  const path = url.split('?', 1)[0]
  return navigation(useTexts(), user).map(([href, label]) => {
    const props = { href, 'aria-current': path === href ? ('page' as const) : undefined }
    return href === '/api/docs' ? (
      <a key={href} {...props}>
        {label}
      </a>
    ) : (
      <Link key={href} {...props}>
        {label}
      </Link>
    )
  })
}

/** Signing out is a plain form: the next page is loaded afresh, so that nothing of the session stays in memory. */
function Account({ user }: { user: User }): ReactNode {
  const texts = useTexts()
  return (
    <>
      <button className="me" type="button" popoverTarget="me">
        <Face id={user.id} name={user.name} />
        <span className="unseen">{format(texts.account, { name: user.name })}</span>
      </button>
      <div className="menu" id="me" popover="auto">
        <p>
          {user.name} · {roleOf(texts, user)}
        </p>
        <div className="menu-nav">
          <NavLinks />
        </div>
        <Link href="/inertia/preferences">
          <Icon name="sliders" />
          {texts.preferences}
        </Link>
        <form method="post" action="/logout">
          <button type="submit">
            <Icon name="out" />
            {texts.signOut}
          </button>
        </form>
      </div>
    </>
  )
}

/** What everybody is to know: that maintenance goes on, and the banner. */
function Notices(): ReactNode {
  const { user } = useShared()
  const app = useLook()
  const texts = useTexts()
  return (
    <aside aria-label={texts.notices}>
      {app?.isInMaintenance ? (
        <p className="banner is-warn">
          <strong>{texts.maintenanceIsOn}</strong> {texts.onlyAdministrators}{' '}
          {user?.isAdmin ? <a href={maintenanceSwitch}>{texts.turnItOff}</a> : null}
        </p>
      ) : null}
      <p className="banner">{app?.banner}</p>
    </aside>
  )
}

function Footer(): ReactNode {
  const app = useLook()
  const texts = useTexts()
  return (
    <footer className="foot">
      <span>{app?.title}</span>
      {app?.homepageUrl ? <a href={app.homepageUrl}>{new URL(app.homepageUrl).host}</a> : null}
      {app?.supportEmail ? <a href={mailTo(app.supportEmail)}>{texts.help}</a> : null}
      <a href="/api/docs">{texts.api}</a>
    </footer>
  )
}
