import Fastify from 'fastify'
import { test } from 'tap'
import { createStop } from '#src/stop.js'

test('stopping gives up when something never closes', async (t) => {
  const app = Fastify()
  const hanging = new Promise<void>(() => {})
  app.addHook('onClose', () => hanging)
  await app.listen({ port: 0, host: '127.0.0.1' })
  await t.rejects(createStop(app, 50)(), { message: 'The application did not close within 100 ms.' })
})

test('stopping resolves when everything has closed', async (t) => {
  const app = Fastify()
  const stop = createStop(app, 60_000)
  await app.listen({ port: 0, host: '127.0.0.1' })
  await t.resolves(stop())
})
