/**
 * The application as the environment wants it, not yet served: main.ts serves it, and the command line (npx fastify-modular)
 * opens it to read and to write settings. What works by itself, such as a timer or the worker of a queue, starts in a hook
 * of onListen: it does not run under a command.
 */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readEnvironment } from '@fastify-modular/settings'
import type { FastifyInstance } from 'fastify'
import { createApp } from './app.ts'
import { developmentSignIn } from './development-sign-in.ts'
import { serverSettings } from './server-settings.ts'
import { createStore } from './store.ts'

/** What the command line passes. */
interface Opening {
  /** Takes what keeps the application from being served. Without it that is an error. */
  readonly report?: (problem: string) => void
}

/** @throws {Error} the environment does not fit */
export async function build({ report = refuse }: Opening = {}): Promise<FastifyInstance> {
  if (existsSync('.env')) process.loadEnvFile() // variables that are set already stay as they are
  const { env } = process
  if (!['development', 'test', 'production'].includes(env['NODE_ENV'] || 'development'))
    throw new Error('NODE_ENV must be unset, development, test or production.')
  const { trustProxy, logLevel } = readEnvironment(serverSettings)
  const { signIn, sessions, password, users } = developmentSignIn(env, { trustProxy, report })

  const app = await createApp({
    store: createStore(env),
    signIn,
    sessions,
    // Signs the cookies of sessions: with another one they all end.
    sessionSecret: env['SESSION_SECRET'] || randomBytes(32).toString('hex'),
    trustProxy,
    logLevel,
  })
  app.addHook('onListen', async () =>
    console.log(`\nFor development, ${users.join(', ')} sign in with the password ${password}`),
  )
  return app
}

function refuse(problem: string): never {
  throw new Error(problem)
}
