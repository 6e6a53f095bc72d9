// An event in the transaction of the write that it reports: both are stored, or neither. The handler runs after the commit,
// again after a failure or a kill. The file is orders.db in the current folder, or what DATABASE_FILE names.
//
//   node examples/outbox.mjs
//   curl -i -X POST localhost:3000/orders/o1 # 202
//   curl -i -X POST localhost:3000/orders/o1 # 409 CONFLICT
//   curl -i localhost:3000/invoices          # 200 ["o1"]
import Fastify from 'fastify'
import { defineEvent, defineModule, events, sqliteTx, modules } from '@fastify-modular/core'
import { sqliteOutbox } from '@fastify-modular/core/events/sqlite-outbox'
import { mapDatabaseConflicts, errors } from '@fastify-modular/errors'
import { Type } from '@sinclair/typebox'
import Database from 'better-sqlite3'

const database = new Database(process.env.DATABASE_FILE ?? 'orders.db')
database.pragma('journal_mode = WAL')
database.pragma('synchronous = FULL') // a commit that was acknowledged survives a power loss
database.exec('CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY)')
database.exec('CREATE TABLE IF NOT EXISTS invoices (event_id TEXT PRIMARY KEY, order_id TEXT NOT NULL)')

class OrderPlaced extends defineEvent('orders.placed', Type.Object({ orderId: Type.String() })) {}

// A durable transport may deliver an event twice: its id makes that one invoice.
class WriteInvoiceHandler {
  static event = OrderPlaced
  handle({ eventId, orderId }) {
    database.prepare('INSERT INTO invoices VALUES (?, ?) ON CONFLICT DO NOTHING').run(eventId, orderId)
  }
}

const shop = defineModule({
  name: 'shop',
  handlers: [WriteInvoiceHandler],
  plugin: async (app) => {
    const placeOrder = database.transaction((orderId) => {
      app.events.publish(new OrderPlaced({ orderId }), { tx: sqliteTx(database) })
      database.prepare('INSERT INTO orders VALUES (?)').run(orderId) // the second time it fails, and the event is gone, too
    })
    app.post('/orders/:id', async ({ params }, reply) => {
      placeOrder(params.id)
      return reply.code(202).send()
    })
    app.get('/invoices', async () => database.prepare('SELECT order_id FROM invoices').pluck().all())
  },
})

const app = Fastify({ logger: true })
app.addHook('onClose', () => database.close()) // close hooks run in reverse: the first one runs last
await app.register(errors)
mapDatabaseConflicts(app.problems) // a value that exists already is 409
await app.register(events, { transport: sqliteOutbox({ database }) })
await app.register(modules, { modules: [shop] })

process.once('SIGTERM', () => void app.close())
await app.listen({ port: Number(process.env.PORT ?? 3000) })
