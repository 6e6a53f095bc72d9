/** The module of mail: its settings, its page, and the handler that writes to the owner of a shared note. */
import { defineModule, type Module } from '@fastify-modular/core'
import { problemResponses } from '@fastify-modular/errors'
import { setting, SettingScope } from '@fastify-modular/settings'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Accounts } from '../../accounts.ts'
import type { Database } from '../../database/database.ts'
import { NoteShared } from '../notes/note.ts'
import { createMailbox, Mail, type Mailbox } from './mailbox.ts'
import { smtp } from './smtp.ts'

export function mailModule(database: Database, { names }: Pick<Accounts, 'names'>): Module {
  const mailbox = createMailbox(database)
  return defineModule({
    name: 'mail',
    dependsOn: ['notes'],
    permissions: {
      'Mails.Read': {
        displayName: 'Read mail',
        description: 'See the mail that was sent, and to whom.',
      },
    },
    access: 'Mails.Read',
    settings: mailSettings,
    settingGroups: {
      Mail: {
        icon: 'mail',
        description: 'How mail leaves this application.',
        action: { label: 'See sent mail', href: '/mails', permission: 'Mails.Read' },
      },
    },
    handlers: [new ShareMailHandler(mailbox)],
    plugin: async (app) => {
      // Mail is a table here: what would send it is tested on the settings pages, and used by nothing else.
      app.settings.resource('mail', mailSettings, smtp)
      await app.register(mailRoutes, { mailbox, names })
    },
  })
}

/** The server that mail would go to, as the page of mail shows it. */
export interface MailServer {
  readonly host: string
  readonly port: number
  readonly hasPassword: boolean
}

interface MailOptions extends Pick<Accounts, 'names'> {
  readonly mailbox: Mailbox
}

const mailRoutes: FastifyPluginAsyncTypebox<MailOptions> = async (app, { mailbox, names }) => {
  app.get('/mails', async (_request, reply) => {
    const mails = await mailbox.list()
    const { settings } = app
    const server: MailServer = {
      host: settings.get(mailSettings.host),
      port: settings.get(mailSettings.port),
      hasPassword: settings.get(mailSettings.password) !== null,
    }
    const people = await names(mails.map(({ recipient }) => recipient))
    const deadLetters = (await app.events.deadLetters?.list())?.length ?? 0
    return reply.inertia('Mails/Index', { mails, people, server, deadLetters })
  })

  app.get(
    '/api/mails',
    {
      schema: {
        tags: ['mail'],
        operationId: 'listMails',
        summary: 'The mail that was sent',
        response: { 200: Type.Array(Mail), ...problemResponses(app, 401, 403, 503) },
      },
    },
    () => mailbox.list(),
  )
}

/**
 * Writes to the owner of a note that was shared (S 6.3). A durable transport may deliver an event twice: the id of the
 * event makes that one mail.
 */
class ShareMailHandler {
  static readonly event = NoteShared
  readonly #mailbox: Mailbox

  constructor(mailbox: Mailbox) {
    this.#mailbox = mailbox
  }

  async handle(event: NoteShared): Promise<void> {
    const subject = `Everybody can read your note “${event.title}” now`
    await this.#mailbox.send({ id: event.eventId, recipient: event.owner, subject })
  }
}

const mailSettings = {
  host: setting.text('mail.host', {
    displayName: 'SMTP server',
    description: 'The server that takes outgoing mail.',
    group: 'Mail',
    scope: SettingScope.System,
    env: 'SMTP_HOST',
    default: 'localhost',
    order: 10,
    placeholder: 'smtp.example.org',
    keywords: ['email server', 'mail host', 'outgoing mail'],
  }),
  port: setting.number('mail.port', {
    displayName: 'SMTP port',
    description: '587 for submission, 465 for implicit TLS.',
    docsUrl: 'https://www.rfc-editor.org/rfc/rfc8314',
    group: 'Mail',
    scope: SettingScope.System,
    env: 'SMTP_PORT',
    default: 587,
    min: 1,
    max: 65_535,
    order: 20,
    keywords: ['email port'],
  }),
  user: setting.text('mail.user', {
    displayName: 'SMTP user',
    description: 'Leave it empty for a server that needs no sign-in.',
    group: 'Mail',
    scope: SettingScope.System,
    order: 25,
    keywords: ['email user', 'account'],
  }),
  password: setting.password('mail.password', {
    displayName: 'SMTP password',
    description: 'Never shown again once it is saved.',
    group: 'Mail',
    scope: SettingScope.System,
    sensitive: true,
    order: 30,
    keywords: ['email password', 'credentials'],
  }),
}
