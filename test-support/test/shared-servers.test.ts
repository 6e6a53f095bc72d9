import { test } from 'tap'
import { offerServers, sharedServer } from '@fastify-modular/test-support/shared-servers'
import { takeOffer } from './take-offer.ts'

test('a shared server starts once, when the first file asks, and stops with the run', async (t) => {
  const events: string[] = []
  const servers = await offerServers({
    database: async () => {
      events.push('started')
      return { url: 'postgres://one', stop: async () => void events.push('stopped') }
    },
    browser: async () => Promise.reject(new Error('no program')),
  })
  takeOffer(t, servers.address)
  t.same(events, [])
  t.same(await Promise.all([sharedServer('database'), sharedServer('database')]), [
    'postgres://one',
    'postgres://one',
  ])
  await t.rejects(sharedServer('browser'), /no program/)
  await t.rejects(sharedServer('unknown'), /unknown/)
  const stranger = await fetch(new URL('/guess/database', servers.address))
  t.equal(stranger.status, 404, 'only those who got the address may ask')
  await servers.stop()
  t.same(events, ['started', 'stopped'])
  delete process.env['TEST_SERVERS']
  t.equal(await sharedServer('database'), undefined, 'a file that runs by itself has its own')
})

test('a shared server that has ended is replaced when the next file asks', async (t) => {
  const ends: (() => void)[] = []
  const servers = await offerServers({
    browser: async () => {
      const ended = new Promise<void>((resolve) => ends.push(resolve))
      return { url: `ws://${ends.length}`, ended, stop: async () => {} }
    },
  })
  t.teardown(servers.stop)
  takeOffer(t, servers.address)
  t.equal(await sharedServer('browser'), 'ws://1')
  t.equal(await sharedServer('browser'), 'ws://1')
  ends[0]?.()
  t.equal(await sharedServer('browser'), 'ws://2')
})
