// The settings pages, without a front-end build: open http://localhost:3000/settings/manage and sign in as admin, password admin.
//
//   node examples/settings-page.mjs
//   curl -i localhost:3000/settings/manage                                            # 401 Unauthorized
//   curl -i localhost:3000/settings/manage -H 'authorization: Basic YWRtaW46YWRtaW4=' # 200 <title>
//   curl -i localhost:3000/settings/preferences -H 'authorization: Basic YWRtaW46YWRtaW4='     # 200 <title>
import Fastify from 'fastify'
import { publicRoutes } from '@fastify-modular/public-routes'
import { memoryStore, setting, settings, SettingScope } from '@fastify-modular/settings'
import { settingsUi } from '@fastify-modular/settings-ui'

const { Application, System, User } = SettingScope
const shop = {
  name: setting.text('shop.name', {
    displayName: 'Name of the shop',
    scope: Application,
    default: 'Corner shop',
  }),
  color: setting.color('shop.color', { displayName: 'Colour', scope: Application, default: '#2f57dd' }),
  closed: setting.bool('shop.closed', {
    displayName: 'Closed for holidays',
    scope: Application,
    default: false,
  }),
  key: setting.password('shop.payment-key', { displayName: 'Payment key', scope: System, sensitive: true }),
  mails: setting.bool('shop.mails', { displayName: 'Send me news', scope: User, default: false }),
}
const admin = { id: 'admin', isAdmin: true }
const credentials = `Basic ${Buffer.from('admin:admin').toString('base64')}`

const app = Fastify({ logger: true })
await app.register(publicRoutes, {
  provider: {
    authenticate: ({ headers }) => (headers.authorization === credentials ? admin : null),
    challenge: () => 'Basic realm="shop"', // browsers ask for user and password
  },
  csrf: true, // browsers send the password by themselves: refuses writes from other origins
})
await app.register(settings, { definitions: [shop], store: memoryStore() })
await app.register(settingsUi, { title: ({ server }) => server.settings.get(shop.name) })

await app.listen({ port: Number(process.env.PORT ?? 3000) })
