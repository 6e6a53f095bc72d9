/** Starts the application: reads the environment, listens, stops cleanly on a signal. */
import { createApp } from './app.ts'
import { demoAccounts } from './auth/accounts.ts'
import { ConfigError, readConfig } from './config.ts'
import { createStop } from './stop.ts'

async function start(): Promise<void> {
  const config = readConfig(process.env)
  const app = await createApp(config)
  const stop = createStop(app)
  // Nothing keeps the process alive once everything is closed: the exit code stays 0. What did not close might.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop().catch(exit))
  try {
    const address = await app.listen({ port: config.port, host: config.host })
    console.log(welcome(address, config.accounts.kind === 'demo'))
  } catch (error) {
    await app.close()
    throw isTaken(error) ? new ConfigError([`PORT ${config.port} is in use by another program.`]) : error
  }
}

function welcome(address: string, isDemo: boolean): string {
  const names = demoAccounts.map(({ name }) => name).join(', ')
  const demo = `Demo accounts: ${names}; the password of each is demo-<name>.\n`
  return `\nThe example runs at ${address}\n${isDemo ? demo : ''}`
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
}

/** A mistake of the configuration is printed without a stack; only defects of the code need one. */
function fail(error: unknown): void {
  const isMisuse = error instanceof Error && 'code' in error && String(error.code).startsWith('FMOD_')
  console.error(error instanceof ConfigError || isMisuse ? error.message : error)
  process.exitCode = 1
}

function exit(error: unknown): never {
  fail(error)
  process.exit()
}

start().catch(fail)
