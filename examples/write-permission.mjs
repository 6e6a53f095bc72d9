// A setting that needs a permission of its own to be changed. Whoever may read settings still reads it.
//
//   node examples/write-permission.mjs
//   curl -i 'localhost:3000/api/settings/mail.sender?scope=1' -H 'authorization: Bearer editor-token' # 200 "value":null
//   curl -i -X PUT localhost:3000/api/settings -H 'authorization: Bearer editor-token' -H 'content-type: application/json' -d '{"key":"mail.sender","scope":1,"value":"a@example.org"}' # 403 Mail.Configure
//   curl -i -X PUT localhost:3000/api/settings -H 'authorization: Bearer postmaster-token' -H 'content-type: application/json' -d '{"key":"mail.sender","scope":1,"value":"a@example.org"}' # 204
import Fastify from 'fastify'
import { defineModule, modules } from '@fastify-modular/core'
import { publicRoutes } from '@fastify-modular/public-routes'
import { setting, settings, SettingScope } from '@fastify-modular/settings'

const callers = new Map([
  ['Bearer editor-token', { id: 'editor', permissions: ['Settings.Update'] }],
  ['Bearer postmaster-token', { id: 'postmaster', permissions: ['Settings.Update', 'Mail.Configure'] }],
])

const mail = defineModule({
  name: 'mail',
  permissions: { 'Mail.Configure': 'Configure mail' },
  settings: {
    sender: setting.email('mail.sender', {
      displayName: 'Sender',
      scope: SettingScope.Application,
      writePermission: 'Mail.Configure',
    }),
  },
})

const app = Fastify({ logger: true })
await app.register(publicRoutes, {
  provider: { authenticate: ({ headers }) => callers.get(headers.authorization) ?? null },
})
await app.register(settings)
await app.register(modules, { modules: [mail] })

await app.listen({ port: Number(process.env.PORT ?? 3000) })
