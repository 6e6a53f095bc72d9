/** Serves the application: listens, and closes when it is told to stop. */
import { readEnvironment } from '@fastify-modular/settings'
import closeWithGrace from 'close-with-grace'
import { build } from './build.ts'
import { serverSettings } from './server-settings.ts'

const app = await build()
closeWithGrace({ delay: 10_000, logger: app.log }, async ({ err }) => {
  if (err) app.log.fatal({ err }, 'a defect ends the process')
  await app.close()
})

const { port } = readEnvironment(serverSettings)
const address = await app.listen({ host: process.env['HOST'] || '127.0.0.1', port })
console.log(`The application listens at ${address}\n`)
