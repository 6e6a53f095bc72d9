// Settings that the environment may fix: read before there is an application, locked afterwards. Prints an .env.example.
//
//   node examples/environment.mjs
//   curl -i localhost:3000/hello                                    # 200 Ahoy, world
//   curl -i 'localhost:3000/api/settings/hello.greeting?scope=0' -H 'authorization: Bearer admin-token' # 200 "lockedBy":"variable"
//   curl -i -X PUT localhost:3000/api/settings -H 'authorization: Bearer admin-token' -H 'content-type: application/json' -d '{"key":"hello.greeting","scope":0,"value":"Hello"}' # 409 locked
import Fastify from 'fastify'
import { printEnvironment, readEnvironment, setting, settings, SettingScope } from '@fastify-modular/settings'

const { System } = SettingScope
const server = {
  port: setting.number('server.port', {
    displayName: 'Port',
    scope: System,
    env: 'PORT',
    default: 3000,
    restart: true,
  }),
}
const hello = {
  greeting: setting.text('hello.greeting', {
    displayName: 'Greeting',
    description: 'GREETING_FILE names a file with it.',
    scope: System,
    env: 'GREETING',
    default: 'Hello',
  }),
}
process.env.GREETING ??= 'Ahoy' // as if the shell had set it
console.log(printEnvironment({ ...server, ...hello }))

const { port } = readEnvironment(server)
const admin = { id: 'admin', isAdmin: true }
const app = Fastify({ logger: true })
await app.register(settings, {
  definitions: [server, hello],
  findCaller: ({ headers }) => (headers.authorization === 'Bearer admin-token' ? admin : null),
})
app.get('/hello', async () => `${app.settings.get(hello.greeting)}, world\n`)

await app.listen({ port })
