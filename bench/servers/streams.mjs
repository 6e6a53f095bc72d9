// Holds connections and writes one event to all of them: settings with streams, a bare `net` server or a bare node:http one.
// { publish } writes it; other messages are answered with the CPU time so far, in µs, and with the memory in use: 'memory' collects garbage first.
import { createServer } from 'node:http'
import { createServer as createNetServer } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { setting, settings, SettingScope } from '@fastify-modular/settings'
import Fastify from 'fastify'

const title = setting.text('bench.title', { displayName: 'Title', scope: SettingScope.Application })
/** As many bytes as the event of a setting, in slices as those of a stream. */
const bytesOf = (value) =>
  Buffer.from(
    `id: 43-9c1e07d2-5d07ab1c\nevent: change\ndata: [{"key":"bench.title","scope":1,"isOverridden":true,"source":"application","locked":false,"lockedBy":null,"version":43,"updatedAt":"2026-01-01T00:00:00.000Z","updatedBy":null,"value":"${value}"}]\n\n`,
  )

async function writeTo(sinks, value) {
  const bytes = bytesOf(value)
  let written = 0
  for (const sink of sinks) {
    sink.write(bytes)
    if (++written % 256 === 0) await turn()
  }
}

const kinds = {
  async ours() {
    const app = Fastify()
    await app.register(settings, {
      definitions: [title],
      findCaller: ({ headers }) => ({ id: String(headers['x-caller']) }),
    })
    await app.listen({ host: '127.0.0.1', port: 0 })
    return { server: app.server, publish: (value) => app.settings.set(title, value) }
  },
  async net() {
    const sinks = new Set()
    const server = createNetServer((socket) => {
      socket.setNoDelay().on('error', () => {})
      socket.once('data', () => {
        sinks.add(socket)
        socket.write(bytesOf('first'))
      })
      socket.on('close', () => sinks.delete(socket))
    })
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
    return { server, publish: (value) => writeTo(sinks, value) }
  },
  async http() {
    const sinks = new Set()
    const server = createServer((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(bytesOf('first'))
      sinks.add(response)
      response.on('close', () => sinks.delete(response))
      request.socket.setTimeout(0)
    })
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
    return { server, publish: (value) => writeTo(sinks, value) }
  },
}

const { server, publish } = await kinds[process.argv[2]]()
process.on('disconnect', () => process.exit())
process.on('message', (message) => {
  if (message.publish !== undefined) void publish(message.publish)
  else void answer(message)
})

async function answer(message) {
  for (let pass = message === 'memory' ? 3 : 0; pass > 0; pass--) {
    global.gc()
    await turn()
  }
  const { user, system } = process.cpuUsage()
  const { heapUsed, rss } = process.memoryUsage()
  process.send({ cpu: user + system, heap: heapUsed, rss })
}
process.send({ port: server.address().port })
