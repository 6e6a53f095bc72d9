// Settings: declared with a type, read synchronously, changed over HTTP. Here they are in memory, and gone with the process.
//
//   node examples/settings.mjs
//   curl -i localhost:3000/hello                                    # 200 Hello, world
//   curl -i localhost:3000/api/settings/public                      # 200 hello.greeting
//   curl -i -X PUT localhost:3000/api/settings -H 'authorization: Bearer admin-token' -H 'content-type: application/json' -d '{"key":"hello.greeting","scope":1,"value":"Good morning"}' # 204
//   curl -i localhost:3000/hello                                    # 200 Good morning, world
//   curl -i -X PUT localhost:3000/api/settings -H 'authorization: Bearer admin-token' -H 'content-type: application/json' -d '{"key":"hello.greeting","scope":1,"value":""}' # 422 hello.greeting
import Fastify from 'fastify'
import { memoryStore, setting, settings, SettingScope } from '@fastify-modular/settings'

const hello = {
  greeting: setting.text('hello.greeting', {
    displayName: 'Greeting',
    scope: SettingScope.Application,
    required: true,
    default: 'Hello',
    public: true,
  }),
}
const admin = { id: 'admin', isAdmin: true }

const app = Fastify({ logger: true })
await app.register(settings, {
  definitions: [hello],
  store: memoryStore(),
  // Who asks. With the gate of public-routes this option is left out.
  findCaller: ({ headers }) => (headers.authorization === 'Bearer admin-token' ? admin : null),
})
app.settings.on(hello.greeting, (greeting) => app.log.info({ greeting }, 'the greeting has changed'))

app.get('/hello', async () => `${app.settings.get(hello.greeting)}, world\n`)

await app.listen({ port: Number(process.env.PORT ?? 3000) })
