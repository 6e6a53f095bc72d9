/** The mail that the application sent, for administrators: what the events of other modules led to. */
import { usePage } from '@inertiajs/react'
import type { ReactNode } from 'react'
import type { Mail } from '../modules/mail/mailbox.ts'
import { Layout } from './layout.tsx'

export function MailsPage(): ReactNode {
  const { mails } = usePage<{ mails: Mail[] }>().props
  return (
    <Layout title="Mail">
      <h1>Mail</h1>
      <p className="muted">
        The mail module gets an event for each shared note and writes to their owners. This example keeps what
        it would send.
      </p>
      {mails.length === 0 ? <p className="muted">No mail was sent yet. Share a note.</p> : null}
      {mails.map(({ id, recipient, subject, sentAt }) => (
        <article key={id} className="card">
          <h2>{subject}</h2>
          <p className="muted">
            To {recipient}, <time dateTime={sentAt}>{new Date(sentAt).toLocaleString()}</time>
          </p>
        </article>
      ))}
    </Layout>
  )
}
