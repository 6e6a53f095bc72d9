// A setting and an event whose schemas are validators of Zod; any library that implements Standard Schema will do.
//
//   node examples/validators.mjs
//   curl -i -X PUT localhost:3000/api/settings -H 'authorization: Bearer admin-token' -H 'content-type: application/json' -d '{"key":"mail.routes","scope":1,"value":[{"to":" Ada@Example.org "}]}' # 204
//   curl -i localhost:3000/routes                                   # 200 [{"to":"ada@example.org","weight":1}]
//   curl -i -X PUT localhost:3000/api/settings -H 'authorization: Bearer admin-token' -H 'content-type: application/json' -d '{"key":"mail.routes","scope":1,"value":[{"to":"nobody"}]}' # 422 /0/to: Invalid email
//   curl -i -X POST localhost:3000/tests                            # 202 mail.tested
import Fastify from 'fastify'
import { defineEvent, events } from '@fastify-modular/core'
import { setting, settings, SettingScope } from '@fastify-modular/settings'
import { z } from 'zod'

const Route = z.object({
  to: z.string().trim().toLowerCase().pipe(z.email()),
  weight: z.number().min(1).default(1),
})
const mail = {
  routes: setting.schema('mail.routes', z.array(Route).max(20), {
    displayName: 'Routes',
    scope: SettingScope.Application,
    default: [],
  }),
}
class MailTested extends defineEvent('mail.tested', z.object({ to: z.array(z.email()) })) {}

const admin = { id: 'admin', isAdmin: true }
const app = Fastify({ logger: true })
await app.register(events)
await app.register(settings, {
  definitions: [mail],
  findCaller: ({ headers }) => (headers.authorization === 'Bearer admin-token' ? admin : null),
})

app.get('/routes', async () => app.settings.get(mail.routes))
app.post('/tests', async (_request, reply) => {
  await app.events.publish(new MailTested({ to: app.settings.get(mail.routes).map(({ to }) => to) }))
  return reply.code(202).send({ published: MailTested.type })
})

await app.listen({ port: Number(process.env.PORT ?? 3000) })
