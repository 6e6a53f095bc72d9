// Compiles the tests and runs them, some processes side by side: all of them, or those that are named (`settings`, `packages/core/test/x.test.ts`).
import { availableParallelism } from 'node:os'
import { node } from '../command.mjs'
import { createTestReport } from '../test-report.mjs'
import { chooseTests, compiled } from '../test-choice.mjs'
import { runTestFiles } from '../test-file.mjs'
import { groupFiles } from '../test-groups.mjs'
import { packageFolders, removeOrphans } from '../files.mjs'
import build from './build.mjs'

/** Two more than the cores: many tests wait for processes, databases and browsers. */
const jobs = Math.min(8, availableParallelism() + 2)

/**
 * So many files that failed among others are run again, alone; where more fail, the load is not the cause. Those before them in their
 * processes are run again, too: what one of them left may be what failed.
 */
const secondRuns = 3

export default async function test(words) {
  const { files, grep } = chooseTests(words)
  await compile(files)
  await runTests(files.map(compiled), grep)
}

/** Ends the process when a test fails. */
export async function runTests(files, grep) {
  const servers = await offerServers()
  const report = createTestReport((text) => console.log(text))
  const waiting = groupFiles(files, jobs)
  const stop = new AbortController()
  const onSignal = () => stop.abort()
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal)

  const env = { ...process.env, TEST_SERVERS: servers.address, ...(grep && { TAP_GREP: grep }) }
  const work = async () => {
    for (let group = waiting.shift(); group && !stop.signal.aborted; group = waiting.shift()) {
      const results = await runTestFiles(group, { env, signal: stop.signal })
      results.forEach(report.add)
      waiting.push(...group.slice(results.length).map((path) => [path]))
    }
  }
  await Promise.all(Array.from({ length: Math.min(jobs, files.length) }, work))
  const failed = report.failedFiles()
  if (files.length > jobs && failed.length <= secondRuns) {
    const again = new Set(failed.flatMap(({ path, before }) => [...before, path]))
    waiting.push(...[...again].map((path) => [path]))
    await work()
  }
  const isGreen = report.finish()
  await servers
    .stop()
    .catch((error) => console.error(`A server of the tests is left behind: ${error.message}`))
  if (!isGreen || stop.signal.aborted) process.exit(1)
}

/** Only the packages of the files and those below them; tests of the repository read all. */
async function compile(files) {
  const packages = packageFolders()
  const named = packages.filter((folder) => files.some((file) => file.startsWith(`${folder}/`)))
  const ofAll = files.some((file) => !file.startsWith('packages/'))
  const folders = ofAll ? [...packages, 'test-support'] : named
  await build(ofAll ? packages : named)
  for (const folder of folders) removeOrphans(`${folder}/test`, `${folder}/dist-test`)
  await node('node_modules/typescript/bin/tsc', ['--build', ...folders.map((folder) => `${folder}/test`)])
}

/** Starts when the first file asks for it. */
async function offerServers() {
  const tools = '../../test-support/dist'
  const [shared, { startPostgres }] = await Promise.all([
    import(`${tools}/shared-servers.js`),
    import(`${tools}/postgres.js`),
  ])
  const startBrowser = async () => (await import(`${tools}/browser.js`)).startBrowser()
  return shared.offerServers({ database: () => startPostgres(), browser: startBrowser })
}
