// Another instance of an application, in a process of its own: tells when it sees a value.
import Fastify from 'fastify'
import { settings } from '@fastify-modular/settings'
import { openStore, watched } from './shared-store.mjs'

const app = Fastify()
await app.register(settings, { definitions: [watched], store: openStore(process.argv[2]), routes: false })
await app.ready()
app.settings.on(watched, (value) => process.send({ value, at: Number(process.hrtime.bigint()) / 1e6 }))
process.on('disconnect', () => void app.close())
process.send('ready')
