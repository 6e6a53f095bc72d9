/** The home page of strangers. */
import { Link } from '@inertiajs/react'
import type { ReactNode } from 'react'
import type { Look } from '../web/look.ts'
import { fully, until } from './dates.ts'
import { Logo } from './drawings.tsx'
import { Layout } from './layout.tsx'
import { useShared, useTexts } from './shared.ts'

export function Home(): ReactNode {
  const { app } = useShared()
  const texts = useTexts()
  return (
    <Layout title={texts.home}>
      <main className="page" id="main" tabIndex={-1}>
        <section className="hero">
          <Logo name={app?.logo ?? 'note'} />
          <h1>{texts.pitch}</h1>
          <p className="lead">{texts.pitchMore}</p>
          {app?.launchAt ? <Launch app={app} at={app.launchAt} /> : null}
          <p className="actions">
            <a className="button primary" href="/login">
              {texts.signIn}
            </a>
            <Link className="button" href="/api/docs">
              {texts.browseApi}
            </Link>
          </p>
        </section>
        <ul className="features">
          {texts.features.map(({ heading, text }, index) => (
            <li className="card" key={heading}>
              <h2>{heading}</h2>
              <p>{text}</p>
              {index === 2 ? (
                <p className="small">
                  {[403, 404, 500, 503].map((status) => (
                    <Link key={status} href={`/error/${status}`}>
                      {status}
                    </Link>
                  ))}
                </p>
              ) : null}
            </li>
          ))}
        </ul>
      </main>
    </Layout>
  )
}

/** When the application opens, or since when it is open. */
export function Launch({ app, at }: { app: Look; at: string }): ReactNode {
  const texts = useTexts()
  const left = until(at, app)
  return (
    <p className="launch">
      <span className="pill is-good" suppressHydrationWarning>
        {left ?? texts.openSince}
      </span>{' '}
      {left === null ? null : `${texts.opens} `}
      <time dateTime={at} suppressHydrationWarning>
        {fully(at, app)}
      </time>
    </p>
  )
}
