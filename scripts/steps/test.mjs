// Runs the compiled tests with tap, beside one PostgreSQL server that all of them share.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { createTapReport } from '../tap-report.mjs'

export default async function test(files) {
  const database = await startDatabase()
  const report = createTapReport((line) => console.log(line))
  const tap = spawn(
    process.execPath,
    ['node_modules/tap/dist/esm/run.mjs', '--reporter=tap', '--coverage-report=text-summary', ...files],
    {
      stdio: ['inherit', 'pipe', 'inherit'],
      env: { ...process.env, TAP: '1', ...database.env },
    },
  )
  const ignore = () => {} // Ctrl-C reaches tap as well; its report is still worth reading
  process.on('SIGINT', ignore)
  const closed = once(tap, 'close')
  for await (const line of createInterface({ input: tap.stdout })) report.read(line)
  const [code, signal] = await closed
  process.off('SIGINT', ignore)
  await database.stop()
  const isGreen = report.finish(code === 0 ? undefined : `tap ended with ${signal ?? `code ${code}`}`)
  if (!isGreen) process.exit(1)
}

/** What the tests find in their environment: the server, and the programs for servers of their own. */
async function startDatabase() {
  if (process.env.TEST_DATABASE_URL) return { env: {}, stop: async () => {} }
  const { startPostgres } = await import('../../test-support/dist/postgres.js')
  const { url, bin, stop } = await startPostgres()
  return { env: { TEST_DATABASE_URL: url, TEST_POSTGRES_BIN: bin }, stop }
}
