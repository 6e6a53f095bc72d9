// Metrics for Prometheus, from the diagnostics channels of events and errors and the counts of settings. No client library:
// prom-client would be fed by the same subscriptions.
//
//   node examples/metrics.mjs
//   curl -i -X POST localhost:3000/orders    # 202
//   curl -i -X POST localhost:3000/orders    # 202
//   curl -i localhost:3000/missing           # 404 NOT_FOUND
//   curl -i localhost:3000/metrics           # 200 events_total{stage="handled",type="orders.placed"} 2
//   curl -i localhost:3000/metrics           # 200 problems_total{status="404",source="not-found"} 1
import { subscribe } from 'node:diagnostics_channel'
import Fastify from 'fastify'
import { defineEvent, defineModule, events, modules } from '@fastify-modular/core'
import { errors, problemChannel } from '@fastify-modular/errors'
import { settings } from '@fastify-modular/settings'
import { Type } from '@sinclair/typebox'

const counts = new Map()
const count = (series) => counts.set(series, (counts.get(series) ?? 0) + 1)

subscribe('fastify-modular:core', ({ type, event }) => count(`events_total{stage="${type}",type="${event}"}`))
problemChannel.subscribe(({ problem, source }) =>
  count(`problems_total{status="${problem.status}",source="${source}"}`),
)

class OrderPlaced extends defineEvent('orders.placed', Type.Object({})) {}
class ThankHandler {
  static event = OrderPlaced
  handle() {}
}
const orders = defineModule({
  name: 'orders',
  handlers: [ThankHandler],
  plugin: async (app) => {
    app.post('/orders', async (_request, reply) => {
      await app.events.publish(new OrderPlaced({}))
      return reply.code(202).send()
    })
  },
})

const app = Fastify({ logger: true })
await app.register(errors)
await app.register(events)
await app.register(settings)
await app.register(modules, { modules: [orders] })
app.get('/metrics', async (_request, reply) => {
  const writes = `settings_writes_total ${app.settings.stats.writes}`
  const lines = [...counts].map(([series, value]) => `${series} ${value}`)
  return reply.type('text/plain; version=0.0.4').send([...lines, writes, ''].join('\n'))
})

await app.listen({ port: Number(process.env.PORT ?? 3000) })
