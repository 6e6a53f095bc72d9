/** What a change costs with many readers: one encoding for each audience, and no turn of the event loop that is too long. */
import { Socket } from 'node:net'
import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { SettingScope } from '@fastify-modular/settings'
import { test } from 'tap'
import { readStream, readStreams, start } from '../support/reader.ts'

const { Application } = SettingScope

test('a change is encoded once for each audience, however many readers it has', async (t) => {
  const app = await start(t)
  const streams = await Promise.all(
    Array.from({ length: 24 }, (_, index) =>
      index % 2 === 0
        ? readStream(app, { path: '/public/stream' })
        : readStream(app, { headers: { 'x-caller': index % 4 === 1 ? 'alice' : 'bob' } }),
    ),
  )
  for (const stream of streams) await stream.next('snapshot')
  const { stringify } = JSON
  const encoded: unknown[] = []
  mock.method(JSON, 'stringify', (value: unknown) => {
    if (Array.isArray(value) && Object(value[0]).key === 'app.primary_color') encoded.push(value)
    return stringify(value)
  })
  t.teardown(() => mock.restoreAll())
  await app.settings.contract.setSetting('app.primary_color', '#000000', Application)
  for (const stream of streams) t.match((await stream.next('change')).data, [{ value: '#000000' }])
  t.equal(encoded.length, 2)
})

test('readers who begin with everything share its bytes', async (t) => {
  const app = await start(t)
  const begun = new Set<unknown>()
  const { write } = Socket.prototype
  mock.method(Socket.prototype, 'write', function (this: Socket, ...args: Parameters<Socket['write']>) {
    if (String(args[0]).includes('event: snapshot')) begun.add(args[0])
    return Reflect.apply(write, this, args)
  })
  t.teardown(() => mock.restoreAll())
  for (const name of ['alice', 'bob', 'alice']) {
    const stream = await readStream(app, { headers: { 'x-caller': name } })
    await stream.next('own')
  }
  t.equal(begun.size, 1)
})

test('others have their turn after 256 sockets', async (t) => {
  const app = await start(t, { findCaller: ({ headers }) => ({ id: String(headers['x-caller']) }) })
  const count = 600
  const streams = await readStreams(
    app,
    Array.from({ length: count }, (_, index) => ({
      headers: { 'x-caller': `caller ${Math.floor(index / 8)}` },
    })),
  )
  for (const stream of streams) await stream.next('own')
  let written = 0
  const inTurns: number[] = []
  const { write } = Socket.prototype
  mock.method(Socket.prototype, 'write', function (this: Socket, ...args: Parameters<Socket['write']>) {
    if (String(args[0]).includes('event: change')) {
      if (written++ === 0) setImmediate(endTurn)
    }
    return Reflect.apply(write, this, args)
  })
  t.teardown(() => mock.restoreAll())
  function endTurn(): void {
    inTurns.push(written)
    written = 0
  }
  await app.settings.contract.setSetting('app.title', 'Acme', Application)
  for (const stream of streams) await stream.next('change')
  await turn()
  t.same(inTurns, [256, 256, 88])
})
