/**
 * Runs the flows of docs/concepts/architecture.md and prints the files that each entered, as JSON. It is a process
 * of its own because a process has one coverage: `node follow.js <empty folder> <URL of an empty PostgreSQL database>`.
 */
import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { postgres } from '@fastify-modular/settings/postgres'
import { sqlite } from '@fastify-modular/settings/sqlite'
import { expectStatus, requests, startApp, title } from './app.js'
import { EnteredFiles } from './entered-files.js'

const [folder = '', connectionString = ''] = process.argv.slice(2)
const rounds = 3
/** In milliseconds, longer than this process lives: nothing but the flow runs while it is followed. */
const pollInterval = 60_000

const entered = new EnteredFiles()
await entered.start()

/** The files that every round entered: the first request of a kind, and timers, may enter more. */
async function follow(flow: (round: number) => Promise<unknown>, last = rounds): Promise<string[]> {
  await flow(0)
  let files = await entered.during(() => flow(1))
  for (let round = 2; round <= last; round += 1) {
    const again = new Set(await entered.during(() => flow(round)))
    files = files.filter((file) => again.has(file))
  }
  return files
}

/** Another instance, in a thread with a coverage of its own, writes; this one is followed until its listener is called. */
async function followChangeFromElsewhere(): Promise<string[]> {
  const instance = await startApp(postgres({ connectionString }, { pollInterval }))
  let onChange = (): void => {}
  instance.settings.on(title, () => onChange())
  const other = new Worker(new URL('other-instance.js', import.meta.url), { workerData: connectionString })
  await once(other, 'message')
  const files = await follow(async (round) => {
    const changed = new Promise<void>((resolve) => void (onChange = resolve))
    other.postMessage(`round ${round}`) // oxlint-disable-line unicorn/require-post-message-target-origin -- a thread
    await changed
  })
  await other.terminate()
  await instance.close()
  return files
}

let onEvent = (): void => {}
const store = sqlite({ file: join(folder, 'flows.sqlite') }, { pollInterval })
const app = await startApp(store, () => onEvent())
const publicRequest = await follow(() => expectStatus(app, requests.publicRequest, 200))
const refusedRequest = await follow(() => expectStatus(app, requests.refusedRequest, 401))
const exception = await follow(() => expectStatus(app, requests.exception, 404))
const nextEvent = () => new Promise<void>((resolve) => void (onEvent = resolve))
const put = await follow(async (round) => {
  const handled = nextEvent()
  await expectStatus(app, requests.put(`round ${round}`), 204)
  await handled
})
await app.listen() // or the process would end while it waits
const putBack = await follow(async (round) => {
  const handled = nextEvent()
  await expectStatus(app, requests.tried(`trial ${round}`), 204)
  await handled
  await nextEvent() // after five seconds, the shortest time that may be asked for
}, 1)
await app.close()
const elsewhere = await followChangeFromElsewhere()
process.stdout.write(
  JSON.stringify({ publicRequest, refusedRequest, exception, put: [...put, ...elsewhere], putBack }),
)
