// One module says what happened, another one reacts. Neither imports the other's code: they share the class of the event.
//
//   node examples/events.mjs
//   curl -i -X POST localhost:3000/orders/o1 # 202
//   curl -i localhost:3000/mails             # 200 Order o1 is on its way
import Fastify from 'fastify'
import { defineEvent, defineModule, events, modules } from '@fastify-modular/core'
import { Type } from '@sinclair/typebox'

class OrderPlaced extends defineEvent('orders.placed', Type.Object({ orderId: Type.String() })) {}

const orders = defineModule({
  name: 'orders',
  plugin: async (app) => {
    app.post('/orders/:id', async ({ params }, reply) => {
      await app.events.publish(new OrderPlaced({ orderId: params.id }))
      return reply.code(202).send()
    })
  },
})

const mails = []

// Found by its name, which ends in Handler or Consumer, and by its static member.
class WriteMailHandler {
  static event = OrderPlaced
  handle({ orderId }) {
    mails.push(`Order ${orderId} is on its way`)
  }
}

const mail = defineModule({
  name: 'mail',
  dependsOn: ['orders'],
  handlers: [WriteMailHandler],
  plugin: async (app) => {
    app.get('/mails', async () => mails)
  },
})

const app = Fastify({ logger: true })
await app.register(events) // in this process; sqliteOutbox and pgBoss keep events that must not be lost
await app.register(modules, { modules: [mail, orders] })

await app.listen({ port: Number(process.env.PORT ?? 3000) })
