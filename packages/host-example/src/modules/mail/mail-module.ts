/** The module of mail: it hears of what happens elsewhere and writes to people. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { defineModule, type Module } from '@fastify-modular/core'
import { problemResponses } from '@fastify-modular/errors'
import { Type } from '@sinclair/typebox'
import { callerOf } from '../../auth/caller-of.ts'
import type { Database } from '../../database/database.ts'
import { mailSettings } from './mail-settings.ts'
import { createMailbox, Mail, type Mailbox } from './mailbox.ts'
import { ShareMailHandler } from './share-mail-handler.ts'

export function mailModule(database: Database): Module {
  const mailbox = createMailbox(database)
  return defineModule({
    name: 'mail',
    dependsOn: ['notes'],
    settings: (builder) => void builder.addAll(mailSettings),
    handlers: [new ShareMailHandler(mailbox)],
    plugin: async (app) => {
      await app.register(mailRoutes, { mailbox })
    },
  })
}

const mailRoutes: FastifyPluginAsyncTypebox<{ mailbox: Mailbox }> = async (app, { mailbox }) => {
  app.get('/mails', { schema: { hide: true } }, async (request, reply) =>
    reply.inertia('Mails/Index', { mails: await mailbox.list(callerOf(request)) }),
  )

  app.get(
    '/api/mails',
    {
      schema: {
        tags: ['mail'],
        operationId: 'listMails',
        summary: 'The mail that was sent, for administrators',
        response: { 200: Type.Array(Mail), ...problemResponses(401, 403, 503) },
      },
    },
    (request) => mailbox.list(callerOf(request)),
  )
}
