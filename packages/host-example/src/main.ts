/** Starts the application: reads the environment, listens, stops cleanly when told to. */
import { createApp } from './app.ts'
import { demoAccounts } from './auth/seed-accounts.ts'
import { ConfigError, readConfig } from './config.ts'

/** How long requests in flight may take to finish, in ms. */
const patience = 10_000

async function start(): Promise<void> {
  const config = readConfig(process.env)
  const app = await createApp(config)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      setTimeout(() => process.exit(1), patience).unref()
      // Nothing keeps the process alive once everything is closed: the exit code stays 0.
      app.close().catch(fail)
    })
  }
  try {
    const address = await app.listen({ port: config.port, host: config.host })
    console.log(welcome(address, config.accounts.kind === 'demo'))
  } catch (error) {
    await app.close()
    throw error
  }
}

function welcome(address: string, isDemo: boolean): string {
  const names = demoAccounts.map(({ name }) => name).join(', ')
  const demo = `Demo accounts: ${names}; the password of each is demo-<name>.\n`
  return `\nThe example runs at ${address}\n${isDemo ? demo : ''}`
}

function fail(error: unknown): void {
  console.error(error instanceof ConfigError ? error.message : error)
  process.exitCode = 1
}

start().catch(fail)
