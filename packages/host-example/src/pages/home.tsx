/** The home page of strangers. */
import { Head, Link, usePage } from '@inertiajs/react'
import type { ReactNode } from 'react'
import { Icon } from './drawings.tsx'
import { Layout } from './layout.tsx'
import { Launch } from './parts.tsx'
import { Playground } from './playground.tsx'
import { useShared, useTexts } from './shared.ts'
import { SignInAs } from './sign-in-page.tsx'

export function Home(): ReactNode {
  const { isDemo } = usePage<{ isDemo: boolean }>().props
  const { app } = useShared()
  const texts = useTexts()
  return (
    <Layout title={texts.home}>
      {/* In a frame, links lead out of it. */}
      <Head>
        <base target="_top" />
      </Head>
      <main className="page hero" id="main" tabIndex={-1}>
        <section>
          <h1>{texts.pitch}</h1>
          <p className="lead">{isDemo ? texts.pitchDemo : texts.pitchMore}</p>
          {app?.launchAt ? <Launch app={app} at={app.launchAt} /> : null}
          <div className="row actions">
            {isDemo ? (
              <SignInAs id="admin" returnTo="/">
                <button className="button primary">{texts.signInAsAda}</button>
              </SignInAs>
            ) : null}
            <a className={isDemo ? 'button' : 'button primary'} href="/login">
              {isDemo ? texts.somebodyElse : texts.signIn}
            </a>
            {isDemo ? null : (
              <Link className="button" href="/api/docs">
                {texts.browseApi}
              </Link>
            )}
          </div>
          <ul>
            {texts.facts.map((fact) => (
              <li className="row" key={fact}>
                <Icon name="check" />
                {fact}
              </li>
            ))}
          </ul>
        </section>
        {isDemo ? <Playground /> : null}
      </main>
    </Layout>
  )
}
