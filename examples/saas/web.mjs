// The web process: routes, the page, and events that the worker handles.
import { fileURLToPath } from 'node:url'
import { defineModule, modules } from '@fastify-modular/core'
import { readEnvironment } from '@fastify-modular/settings'
import files from '@fastify/static'
import { createApp } from './app.mjs'
import { invoices } from './invoices.mjs'
import { organisations } from './organisations.mjs'
import { server } from './settings.mjs'

const { port } = readEnvironment(server)
const { app, pool } = await createApp({ 'invoices.created': ['bookkeeping.BookInvoiceHandler'] })
const page = defineModule({
  name: 'page',
  access: 'public',
  plugin: async (scope) => {
    await scope.register(files, { root: fileURLToPath(new URL('page/dist', import.meta.url)) })
  },
})
await app.register(modules, { modules: [organisations(pool), invoices(pool), page] })

await app.listen({ port })
