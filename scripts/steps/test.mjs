// Compiles the tests and runs them, some files side by side, beside one PostgreSQL server that all of them share.
import { join } from 'node:path'
import { node } from '../command.mjs'
import { createTestReport } from '../test-report.mjs'
import { runTestFile } from '../test-file.mjs'
import { filesBelow, packageFolders, removeOrphans } from '../files.mjs'

/** Two more than the cores of a small machine: many tests wait for processes, databases and browsers. */
const jobs = 4

export default async function test(files) {
  await compile()
  await runTests(files.length > 0 ? files : testFiles())
}

/** Ends the process when a test fails. */
export async function runTests(files) {
  const database = await startDatabase()
  const report = createTestReport((text) => console.log(text))
  const waiting = [...files]
  const stop = new AbortController()
  const onSignal = () => stop.abort()
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal)

  const env = { ...process.env, ...database.env }
  const work = async () => {
    for (let path = waiting.shift(); path !== undefined && !stop.signal.aborted; path = waiting.shift()) {
      report.add(await runTestFile(path, { env, signal: stop.signal }))
    }
  }
  await Promise.all(Array.from({ length: jobs }, work))
  const isGreen = report.finish()
  await database.stop().catch((error) => console.error(`The test database is left behind: ${error.message}`))
  if (!isGreen || stop.signal.aborted) process.exit(1)
}

const testedFolders = () => [...packageFolders(), 'test-support']

async function compile() {
  removeOrphans('test-support/src', 'test-support/dist')
  for (const folder of testedFolders()) removeOrphans(join(folder, 'test'), join(folder, 'dist-test'))
  await node('node_modules/typescript/bin/tsc', ['--build'])
}

function testFiles() {
  const folders = testedFolders().map((folder) => join(folder, 'dist-test'))
  return ['scripts/test', ...folders].flatMap(filesBelow).filter((path) => /\.test\.m?js$/.test(path))
}

/** What the tests find in their environment: the server, and the programs for servers of their own. */
async function startDatabase() {
  if (process.env.TEST_DATABASE_URL) return { env: {}, stop: async () => {} }
  const { startPostgres } = await import('../../test-support/dist/postgres.js')
  const { url, bin, stop } = await startPostgres()
  return { env: { TEST_DATABASE_URL: url, TEST_POSTGRES_BIN: bin }, stop }
}
