/** Starts the application: reads the environment, listens, stops cleanly on a signal. */
import closeWithGrace from 'close-with-grace'
import { createApp } from './app.ts'
import { ConfigError, fail, readConfig } from './config.ts'
import { demoAccounts } from './first-accounts.ts'
import { createStop } from './stop.ts'

/** How long requests in flight may take to end, and whatever else is to be closed as long again; ms. */
const patience = 10_000

async function start(): Promise<void> {
  const config = readConfig(process.env)
  const app = await createApp(config)
  const stop = createStop(app, patience)
  try {
    const address = await app.listen({ port: config.port, host: config.host })
    closeWithGrace({ delay: config.drainTime + 2 * patience, logger: app.log }, async ({ err }) => {
      if (err) app.log.fatal({ err }, 'a defect ends the process')
      await stop(err ? 0 : config.drainTime)
    })
    console.log(welcome(address, config.accounts.kind === 'demo'))
  } catch (error) {
    await app.close()
    throw isTaken(error) ? new ConfigError([`PORT ${config.port} is in use by another program.`]) : error
  }
}

function welcome(address: string, isDemo: boolean): string {
  const names = demoAccounts.map(({ id }) => id).join(', ')
  const demo = `Demo accounts: ${names}; the password of each is demo-<name>.\n`
  return `\nThe example runs at ${address}\n${isDemo ? demo : ''}`
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
}

start().catch(fail)
