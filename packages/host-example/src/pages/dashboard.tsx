/** The home page of people who are signed in: the settings that they reach for, what changed, and the public page as it is. */
import { Link, router, usePage } from '@inertiajs/react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { Dashboard } from '../home.ts'
import type { Note } from '../modules/notes/note.ts'
import { ChangeSets } from './change-sets.tsx'
import { partOfDay, today } from './dates.ts'
import { Icon } from './drawings.tsx'
import { Layout } from './layout.tsx'
import { Ago, Head, Launch, Part, SharedPill } from './parts.tsx'
import { Settings } from './settings-element.tsx'
import { useLook, useShared, useTexts } from './shared.ts'
import { Tasks } from './tasks.tsx'

export function DashboardPage(): ReactNode {
  const { notes, sets } = usePage<Dashboard & { readonly [prop: string]: unknown }>().props
  const { app, user } = useShared()
  const texts = useTexts()
  useSetsThatFollow()
  return (
    <Layout title={texts.home}>
      <main className="page" id="main" tabIndex={-1}>
        <Head
          title={
            <>
              {app ? texts.greetings[partOfDay(app)] : null}, {user?.name}
            </>
          }
          lead={app ? today(app) : null}
        >
          <Link className="button primary" href="/notes#new">
            <Icon name="plus" />
            {texts.newNote}
          </Link>
        </Head>
        {app?.launchAt ? <Launch app={app} at={app.launchAt} /> : null}
        <div className="dashboard">
          <div>
            <Part title={texts.quickSettings} href="/settings/preferences" link={texts.preferences}>
              <QuickSettings />
            </Part>
            {sets ? (
              <Part title={texts.whatChanged} href="/settings/manage?view=activity" link={texts.activity}>
                <ChangeSets sets={sets} />
              </Part>
            ) : null}
          </div>
          <div>
            {notes ? (
              <Part title={texts.recentNotes} href="/notes" link={texts.allNotes}>
                <RecentNotes notes={notes} />
              </Part>
            ) : (
              <>
                <Part title={texts.seeItLive} href="/as-stranger" link={texts.openPublicPage}>
                  <PublicPage />
                </Part>
                <Tasks />
              </>
            )}
          </div>
        </div>
      </main>
    </Layout>
  )
}

/** Reads the change sets again when somebody has changed what this page shows. */
function useSetsThatFollow(): void {
  const { title, logo, banner, accent, isInMaintenance } = useLook() ?? {}
  const shown = JSON.stringify([title, logo, banner, accent, isInMaintenance])
  const before = useRef(shown)
  useEffect(() => {
    if (before.current !== shown) router.reload({ only: ['sets'] })
    before.current = shown
  }, [shown])
}

/** True once the page and what it needs are loaded: what is heavy waits for that. */
function useLoaded(): boolean {
  const [isLoaded, setLoaded] = useState(false)
  useEffect(() => {
    const report = (): void => setLoaded(true)
    if (document.readyState === 'complete') report()
    else window.addEventListener('load', report, { once: true })
    return () => window.removeEventListener('load', report)
  }, [])
  return isLoaded
}

function QuickSettings(): ReactNode {
  const { user } = useShared()
  const texts = useTexts()
  const shared = ['app.primary_color', 'app.banner', ...(user?.isAdmin ? ['system.maintenance_mode'] : [])]
  return (
    <div className={user?.canUpdateSettings ? 'quick is-long' : 'quick'}>
      {useLoaded() ? (
        <>
          <Settings page="preferences" keys="app.theme user.preferred_density" />
          {user?.canUpdateSettings ? (
            <>
              <h3 className="small">{texts.forEverybody}</h3>
              <Settings page="manage" keys={shared.join(' ')} />
            </>
          ) : null}
        </>
      ) : (
        <noscript>{texts.needsScript}</noscript>
      )}
    </div>
  )
}

/** As a stranger sees it on a phone. */
function PublicPage(): ReactNode {
  const texts = useTexts()
  return (
    <figure className="card see">
      <div>{useLoaded() ? <iframe title={texts.publicPage} loading="lazy" src="/as-stranger" /> : null}</div>
      <figcaption className="small">{texts.followsEachSave}</figcaption>
    </figure>
  )
}

function RecentNotes({ notes }: { notes: readonly Note[] }): ReactNode {
  const texts = useTexts()
  if (notes.length === 0) return <p className="card empty">{texts.noNotes}</p>
  return (
    <ul className="card lines">
      {notes.map(({ id, title, body, isShared, updatedAt }) => (
        <li className="row" key={id}>
          <Icon name="note" />
          <span>
            <b>
              <Link className="cover" href="/notes">
                {title}
              </Link>
            </b>
            <span className="small one-line">{body}</span>
          </span>
          {isShared ? <SharedPill /> : null}
          <Ago at={updatedAt} />
        </li>
      ))}
    </ul>
  )
}
