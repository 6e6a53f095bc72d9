/** The mail that the application would have sent, for administrators: what the events of other modules led to. */
import { usePage } from '@inertiajs/react'
import type { ReactNode } from 'react'
import type { MailServer } from '../modules/mail/mail-module.ts'
import type { Mail } from '../modules/mail/mailbox.ts'
import { format, plural } from '../texts/texts.ts'
import { Face, Icon } from './drawings.tsx'
import { Layout } from './layout.tsx'
import { Ago, Head } from './parts.tsx'
import { useTexts } from './shared.ts'

interface MailsProps {
  readonly mails: readonly Mail[]
  /** Names of people by the ids of their accounts. */
  readonly people: Readonly<Record<string, string>>
  readonly server: MailServer
  /** How many events no handler could handle. */
  readonly deadLetters: number
  readonly [prop: string]: unknown
}

export function MailsPage(): ReactNode {
  const { mails, people, server, deadLetters } = usePage<MailsProps>().props
  const texts = useTexts()
  const encryption: Readonly<Record<number, string>> = texts.encryption
  return (
    <Layout title={texts.mail}>
      <main className="page is-narrow" id="main" tabIndex={-1}>
        <Head title={texts.mail} lead={texts.mailLead} />
        <ul className="card lines outgoing">
          <li className="row">
            <Icon name="mail" />
            <span>
              <b>{texts.outgoing}</b>
              <span className="small">
                <code>
                  {server.host}:{server.port}
                </code>{' '}
                · {encryption[server.port] ?? texts.otherPort} ·{' '}
                {server.hasPassword ? texts.withPassword : texts.withoutPassword}
              </span>
            </span>
          </li>
          {deadLetters === 0 ? null : (
            <li className="row">
              <Icon name="alert" />
              <span>
                <b>{plural(texts.deadLetters, deadLetters)}</b>
                <code>npx fastify-modular events dead-letters list</code>
              </span>
            </li>
          )}
        </ul>
        {mails.length === 0 ? (
          <p className="empty">{texts.noMail}</p>
        ) : (
          <ul className="card lines">
            {mails.map(({ id, recipient, subject, sentAt }) => (
              <li className="row" key={id}>
                <Face id={recipient} name={people[recipient] ?? recipient} />
                <span>
                  <b>{subject}</b>
                  <span className="small">
                    {format(texts.recipient, { name: people[recipient] ?? recipient })}
                  </span>
                </span>
                <Ago at={sentAt} />
              </li>
            ))}
          </ul>
        )}
      </main>
    </Layout>
  )
}
