import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { createApp } from '#src/app.js'
// oxlint-disable-next-line import/no-unassigned-import -- its type of app.drain
import '#src/health.js'
import { readConfig } from '#src/config.js'
import { createStop } from '#src/stop.js'
import type { FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'

interface Example {
  readonly app: FastifyInstance
  readonly stop: ReturnType<typeof createStop>
  readonly port: string
}

async function listeningExample(t: Test): Promise<Example> {
  const app = await createApp(readConfig({ DATABASE_URL: 'sqlite::memory:', LOG_LEVEL: 'silent' }))
  t.teardown(() => app.close())
  const stop = createStop(app, 60_000)
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  return { app, stop, port }
}

test('a draining instance is not ready, lives, and ends the connection of every answer', async (t) => {
  const { app } = await listeningExample(t)
  const ready = await app.inject('/health/ready')
  t.match(ready, {
    statusCode: 200,
    body: '{"status":"ok","settings":"ready"}',
    headers: { 'cache-control': 'no-store', connection: 'keep-alive' },
  })

  app.drain()
  t.match(await app.inject('/health/ready'), { statusCode: 503, body: '{"status":"draining"}' })
  t.match(await app.inject('/health/live'), { statusCode: 200, body: '{"status":"ok"}' })
  for (const url of [
    '/',
    '/login',
    '/api/notes',
    '/nowhere',
    '/health/live',
    '/error/404',
    '/openapi.json',
    '/api/docs',
    '/favicon.ico',
  ]) {
    t.equal((await app.inject(url)).headers.connection, 'close', url)
  }
})

test('stopping goes on answering for the time to drain, then closes what is idle', async (t) => {
  const { stop, port } = await listeningExample(t)
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  const ask = (path: string): Promise<{ status: number; connection: string | undefined }> =>
    new Promise((resolve, reject) => {
      request({ agent, host: '127.0.0.1', port, path }, (answer) => {
        answer
          .resume()
          .on('end', () => resolve({ status: answer.statusCode ?? 0, connection: answer.headers.connection }))
      })
        .on('error', reject)
        .end()
    })
  t.same(await ask('/login'), { status: 200, connection: 'keep-alive' })
  const stopped = new AbortController()
  const stopping = stop(6000).finally(() => stopped.abort())
  while (!stopped.signal.aborted && (await ask('/health/ready')).status === 200) await delay(10)
  t.same(await ask('/login'), { status: 200, connection: 'close' })
  t.notOk(stopped.signal.aborted)
  await stopping
  await t.rejects(ask('/login'), { code: 'ECONNREFUSED' })
})
