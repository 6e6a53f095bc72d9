import { test } from 'tap'
import { spawnApp, spawnNode } from '@fastify-modular/test-support/spawn-app'

const entry = new URL('fixtures/app.js', import.meta.url)

test('an application is reachable once its address is printed, and its last words are kept', async (t) => {
  const app = await spawnApp(entry, { env: { SECRET: 'x' } })
  t.teardown(() => app.stop('SIGKILL'))
  t.equal(await (await fetch(`${app.url}/hello`)).text(), '/hello')
  t.equal(app.url, `http://127.0.0.1:${app.port}`)
  t.same(await app.stop(), { code: 0, signal: null })
  t.match(app.log(), /secret is x\n[^]*goodbye\n$/)
  t.same(await app.stop(), { code: 0, signal: null }, 'stopping twice is harmless')
})

test('an application that ends or stays silent fails with what it printed', async (t) => {
  const env = { SECRET: undefined }
  await t.rejects(spawnApp(entry, { env, args: ['fail'] }), { message: /ended before[^]*secret is unset/ })
  await t.rejects(spawnApp(entry, { env, args: ['silent'], timeout: 300 }), {
    message: /300 ms passed before/,
  })
})

test('an application that ignores SIGTERM is killed, and the result says so', async (t) => {
  const app = await spawnApp(entry, { args: ['stubborn'] })
  t.same(await app.stop('SIGTERM', 300), { code: null, signal: 'SIGKILL' })
})

test('a process that is expected to fail is awaited', async (t) => {
  const { exited, printed } = spawnNode(entry, { args: ['fail'] })
  t.same(await exited, { code: 3, signal: null })
  await t.rejects(printed(/never/), { message: /The process ended before/ })
  await t.resolves(printed(/secret/), 'what was printed before counts')
})
