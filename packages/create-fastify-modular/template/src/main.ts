/** Starts the application: reads the environment, listens, and closes when it is told to stop. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readEnvironment } from '@fastify-modular/settings'
import closeWithGrace from 'close-with-grace'
import { createApp } from './app.ts'
import { developmentSignIn } from './development-sign-in.ts'
import { serverSettings } from './server-settings.ts'
import { createStore } from './store.ts'

if (existsSync('.env')) process.loadEnvFile() // variables that are set already stay as they are
const { env } = process
if (!['development', 'test', 'production'].includes(env['NODE_ENV'] || 'development'))
  throw new Error('NODE_ENV must be unset, development, test or production.')
const { port, trustProxy, logLevel } = readEnvironment(serverSettings)
const { signIn, sessions, password, users } = developmentSignIn(env, trustProxy)

const app = await createApp({
  store: createStore(env),
  signIn,
  sessions,
  // Signs the cookies of sessions: with another one they all end.
  sessionSecret: env['SESSION_SECRET'] || randomBytes(32).toString('hex'),
  trustProxy,
  logLevel,
})
closeWithGrace({ delay: 10_000, logger: app.log }, async () => {
  await app.close()
})

const address = await app.listen({ host: env['HOST'] || '127.0.0.1', port })
console.log(`\nFor development, ${users.join(', ')} sign in with the password ${password}`)
console.log(`The application listens at ${address}\n`)
