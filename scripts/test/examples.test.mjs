// Starts each example as a process of its own and sends the requests that its first comment shows.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'tap'
import { spawnApp } from '../../test-support/dist/spawn-app.js'
import { requestOf } from '../../test-support/dist/transcript.js'

const folder = 'examples'
const files = readdirSync(folder).filter((name) => name.endsWith('.mjs'))
const textOf = (name) => readFileSync(join(folder, name), 'utf8')

/** Milliseconds in which an answer that follows from a handler must come. */
const patience = 30_000

async function start(t, name) {
  const env = { PORT: '0', DATABASE_FILE: join(t.testdir(), 'example.db') }
  const app = await spawnApp(join(folder, name), { env })
  t.teardown(() => app.stop())
  return app
}

for (const name of files) {
  test(`${name} answers as its comment says, and ends at SIGTERM`, async (t) => {
    const app = await start(t, name)
    const commands = commandsOf(textOf(name))
    t.ok(commands.length >= 2, 'it shows what to ask')
    for (const { line, path, init, status, text } of commands) {
      const isExpected = (answer) => answer.status === status && answer.text.includes(text)
      const end = Date.now() + patience
      let answer = await send(app.url + path, init)
      while (init.method === 'GET' && !isExpected(answer) && Date.now() < end) {
        await delay(20) // an event may not have been handled yet
        answer = await send(app.url + path, init)
      }
      if (!isExpected(answer)) t.fail(line, { answer })
    }
    const { code, signal } = await app.stop()
    t.ok(code === 0 || signal === 'SIGTERM', `ended with ${signal ?? code}`)
  })
}

test('outbox.mjs closes its database after its handlers', async (t) => {
  const app = await start(t, 'outbox.mjs')
  for (let order = 0; order < 50; order++)
    t.equal((await send(`${app.url}/orders/o${order}`, { method: 'POST' })).status, 202)
  t.equal((await app.stop()).code, 0)
  t.notMatch(app.log(), /"level":(?:50|60)/)
})

test('examples are short, and the README lists all of them with their command', (t) => {
  const readme = textOf('README.md')
  t.ok(files.length >= 8)
  for (const name of files) {
    t.ok(textOf(name).trimEnd().split('\n').length <= 60, `${name} has at most 60 lines`)
    t.ok(textOf(name).includes(`\n//   node examples/${name}\n`), `${name} names its command`)
    t.ok(readme.includes(`(${name})`), `the README lists ${name}`)
  }
  t.end()
})

/** `curl -i -X PUT localhost:3000/x -H 'a: b' -d '{}'  # 200 text of the answer` */
function commandsOf(source) {
  const lines = source.match(/^\/\/ {3}curl .*$/gm) ?? []
  return lines.map((line) => {
    const [, command, status, text] = /^\/\/ {3}curl (.*?) +# (\d{3}) ?(.*)$/.exec(line)
    const { url, init } = requestOf(`curl ${command}`)
    return { line, path: url.slice('localhost:3000'.length), init, status: Number(status), text }
  })
}

async function send(url, init) {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(patience) })
  return { status: response.status, text: await response.text() }
}
