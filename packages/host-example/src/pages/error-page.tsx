/** Every error page: what happened in plain words, and what to do next. */
import type { ErrorPageProps } from '@fastify-modular/errors/react'
import { Link, usePage } from '@inertiajs/react'
import { useSetting } from '@fastify-modular/settings/react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { format } from '../texts/texts.ts'
import { Icon, Picture } from './drawings.tsx'
import { Layout } from './layout.tsx'
import { mailTo, useShared, useTexts } from './shared.ts'

export function ErrorPage({ status, title, message, requestId }: ErrorPageProps): ReactNode {
  const { app, user } = useShared()
  const texts = useTexts()
  useReturn(status)
  const known: Readonly<Record<number, readonly string[]>> = texts.errors
  const [heading = title, text = message] = known[status] ?? []
  const forbidden = user ? format(texts.forbidden, { name: user.name }) : texts.forbiddenToStrangers
  return (
    <Layout title={heading}>
      <main className="error" id="main" tabIndex={-1}>
        <Picture status={status} />
        <p className="small">{format(texts.errorNumber, { status })}</p>
        <h1>{heading}</h1>
        <p>{status === 403 ? forbidden : text}</p>
        <p className="row actions">
          <NextStep status={status} />
          <a className={status === 403 && user ? 'button primary' : 'button'} href="/">
            {texts.home}
          </a>
          {status === 403 && user ? (
            <a className="button" href="/login">
              {texts.switchAccount}
            </a>
          ) : null}
        </p>
        {requestId === undefined ? null : <Reference id={requestId} />}
        {app?.supportEmail && (status === 403 || status >= 500) ? (
          <p className="small extra">
            {status === 403 ? texts.askForAccess : texts.askForHelp}{' '}
            <a href={mailTo(app.supportEmail)}>{app.supportEmail}</a>.
          </p>
        ) : null}
      </main>
    </Layout>
  )
}

/** Once maintenance has ended, and where nothing tells that every half minute, looks whether the page is there again. */
function useReturn(status: number): void {
  const isInMaintenance = useSetting('system.maintenance_mode')
  const wasInMaintenance = useRef(isInMaintenance)
  const isShown = usePage().url.startsWith('/error/') // to show what it looks like
  useEffect(() => {
    if (status !== 503 || isShown) return undefined
    const { pathname, search } = window.location
    const look = (): void =>
      void fetch('', { method: 'HEAD' }).then(
        (answer) => answer.status === 503 || window.location.replace(pathname + search),
        () => undefined, // the next look
      )
    if (wasInMaintenance.current && isInMaintenance === false) look()
    wasInMaintenance.current = isInMaintenance
    const looking = setInterval(look, 30_000)
    return () => clearInterval(looking)
  }, [status, isInMaintenance])
}

/** The one step that is most likely to help. */
function NextStep({ status }: { status: number }): ReactNode {
  const { user } = useShared()
  const texts = useTexts()
  if (status >= 500 || status === 429) {
    return (
      <a className="button primary" href="">
        {texts.tryAgain}
      </a>
    )
  }
  if (status === 403 && user) return null
  return user ? (
    <Link className="button primary" href="/notes">
      {texts.goToNotes}
    </Link>
  ) : (
    <a className="button primary" href="/login">
      {texts.signIn}
    </a>
  )
}

/** What to name when asking for help: it is in the log. */
function Reference({ id }: { id: string }): ReactNode {
  const texts = useTexts()
  const [isCopied, setCopied] = useState(false)
  return (
    <p className="card row reference">
      <span className="small">{texts.reference}</span> <code>{id}</code>
      <button
        type="button"
        className="icon-button"
        aria-label={texts.copyReference}
        onClick={() =>
          void navigator.clipboard.writeText(id).then(
            () => setCopied(true),
            () => setCopied(false),
          )
        }
      >
        <Icon name={isCopied ? 'check' : 'copy'} />
      </button>
      <span className="unseen" role="status">
        {isCopied ? texts.copied : ''}
      </span>
    </p>
  )
}
