// A preference of each user, kept in a SQLite file: what a user has chosen, else what the application says, else the default.
// The file is preferences.db in the current folder, or what DATABASE_FILE names.
//
//   node examples/preferences.mjs
//   curl -i localhost:3000/page -H 'authorization: alice'              # 200 "theme":"light"
//   curl -i -X PUT localhost:3000/api/settings/me -H 'authorization: alice' -H 'content-type: application/json' -d '{"key":"page.theme","value":"dark"}' # 204
//   curl -i localhost:3000/page -H 'authorization: alice'              # 200 "theme":"dark"
//   curl -i localhost:3000/page -H 'authorization: bob'                # 200 "theme":"light"
//   curl -i -X DELETE localhost:3000/api/settings/me/page.theme -H 'authorization: alice' # 204
//   curl -i localhost:3000/page -H 'authorization: alice'              # 200 "theme":"light"
import Fastify from 'fastify'
import { publicRoutes } from '@fastify-modular/public-routes'
import { setting, settings, SettingScope } from '@fastify-modular/settings'
import { sqlite } from '@fastify-modular/settings/sqlite'

const page = {
  theme: setting.select('page.theme', {
    displayName: 'Theme',
    scope: SettingScope.User,
    allowedValues: ['light', 'dark'],
    default: 'light',
  }),
}

const app = Fastify({ logger: true })
await app.register(publicRoutes, {
  // For an example: the header is the user.
  provider: {
    authenticate: ({ headers: { authorization: id } }) => (id ? { id } : null),
  },
})
await app.register(settings, {
  definitions: [page],
  store: sqlite({ file: process.env.DATABASE_FILE ?? 'preferences.db' }),
  selfService: true, // users change their own values without the permission Settings.Update
})

app.get('/page', async (request) => ({ theme: (await request.settings).get(page.theme) }))

process.once('SIGTERM', () => void app.close())
await app.listen({ port: Number(process.env.PORT ?? 3000) })
