/** The home page of people who are signed in: their latest notes, what changed, and the settings that they reach for. */
import { Link, usePage } from '@inertiajs/react'
import type { ReactNode } from 'react'
import type { Change, Dashboard } from '../home.ts'
import type { Note } from '../modules/notes/note.ts'
import { format } from '../texts/texts.ts'
import { fully, partOfDay, today } from './dates.ts'
import { Face, Icon } from './drawings.tsx'
import { Launch } from './home.tsx'
import { Layout } from './layout.tsx'
import { Ago, Head, SharedPill } from './parts.tsx'
import { QuickSettings } from './quick-settings.tsx'
import { useShared, useTexts } from './shared.ts'

export function DashboardPage(): ReactNode {
  const { notes, changes } = usePage<Dashboard & { readonly [prop: string]: unknown }>().props
  const { app, user } = useShared()
  const texts = useTexts()
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
            <section>
              <Heading text={texts.recentNotes} href="/notes" link={texts.allNotes} />
              <RecentNotes notes={notes} />
            </section>
            {changes === null ? null : (
              <section>
                <Heading text={texts.whatChanged} href="/settings/manage" link={texts.settings} />
                <Changes changes={changes} />
              </section>
            )}
          </div>
          <div>
            <section>
              <Heading text={texts.quickSettings} href="/settings/preferences" link={texts.preferences} />
              <QuickSettings />
            </section>
          </div>
        </div>
      </main>
    </Layout>
  )
}

function Heading({ text, href, link }: { text: string; href: string; link: string }): ReactNode {
  return (
    <div className="part">
      <h2>{text}</h2>
      <Link href={href}>{link}</Link>
    </div>
  )
}

function RecentNotes({ notes }: { notes: readonly Note[] }): ReactNode {
  const texts = useTexts()
  if (notes.length === 0) return <p className="card empty">{texts.noNotes}</p>
  return (
    <ul className="card lines">
      {notes.map(({ id, title, body, isShared, updatedAt }) => (
        <li key={id}>
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

function Changes({ changes }: { changes: readonly Change[] }): ReactNode {
  const { app } = useShared()
  const texts = useTexts()
  if (changes.length === 0) return <p className="card empty">{texts.nothingChanged}</p>
  return (
    <ul className="card lines">
      {changes.map(({ id, actor, setting, from, to, isSecret, at }) => (
        <li key={id}>
          <Face id={actor.id} name={actor.name} />
          <span>
            <span>
              {format(texts.changed, { name: actor.name })} <b>{setting}</b>
            </span>
            <span className="diff">
              {isSecret || from === null ? null : (
                <>
                  <span className="unseen">{texts.from} </span>
                  <del>{from}</del>
                  <Icon name="arrow" />
                </>
              )}
              <span className="unseen">{texts.to} </span>
              <ins>{isSecret ? texts.aSecret : (to ?? texts.itsDefault)}</ins>
            </span>
          </span>
          <Ago at={at} title={app ? fully(at, app) : undefined} />
        </li>
      ))}
    </ul>
  )
}
