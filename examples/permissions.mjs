// A module that says who may call its routes. The table of all routes is printed at the start.
//
//   node examples/permissions.mjs
//   curl -i localhost:3000/notes                                                    # 200 []
//   curl -i -X POST localhost:3000/notes                                            # 401 Unauthorized
//   curl -i -X POST localhost:3000/notes -H 'authorization: Bearer reader-token'    # 403 Notes.Write
//   curl -i -X POST localhost:3000/notes -H 'authorization: Bearer writer-token'    # 201 "by":"writer"
//   curl -i localhost:3000/notes/count                                              # 401 Unauthorized
//   curl -i localhost:3000/notes/count -H 'authorization: Bearer reader-token'      # 200 1
import Fastify from 'fastify'
import { defineModule, modules, requireCaller } from '@fastify-modular/core'
import { publicRoutes } from '@fastify-modular/public-routes'

const callers = new Map([
  ['Bearer reader-token', { id: 'reader' }],
  ['Bearer writer-token', { id: 'writer', permissions: ['Notes.Write'] }],
])
const list = []

const notes = defineModule({
  name: 'notes',
  prefix: '/notes',
  permissions: { 'Notes.Write': 'Write notes' },
  access: 'signed-in', // for the routes that do not say
  plugin: async (app) => {
    app.get('/', { config: { access: 'public' } }, async () => list)
    app.get('/count', async () => list.length)
    app.post('/', { config: { access: 'Notes.Write' } }, async (request, reply) => {
      const note = { by: requireCaller(request).id }
      list.push(note)
      return reply.code(201).send(note)
    })
  },
})

const app = Fastify({ logger: true })
await app.register(publicRoutes, {
  provider: { authenticate: ({ headers }) => callers.get(headers.authorization) ?? null },
  undeclared: 'refuse', // a route that does not say who may call it stops the boot
})
await app.register(modules, { modules: [notes] })
await app.ready()
console.log(app.access.print())

await app.listen({ port: Number(process.env.PORT ?? 3000) })
