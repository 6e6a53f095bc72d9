// The worker: no port, only what events ask for.
import { modules } from '@fastify-modular/core'
import { createApp } from './app.mjs'
import { bookkeeping } from './bookkeeping.mjs'

const { app, pool } = await createApp()
await app.register(modules, { modules: [bookkeeping(app, pool)] })

await app.ready()
