// Invoices. Each is written in one transaction with the event that reports it.
import { randomUUID } from 'node:crypto'
import { defineEvent, defineModule, pgTx } from '@fastify-modular/core'
import { Type } from '@sinclair/typebox'
import { transaction } from './database.mjs'
import { requireMember } from './people.mjs'

// The worker has no request: the event names the organisation.
const Created = Type.Object({ organisation: Type.String(), invoice: Type.String() })
export class InvoiceCreated extends defineEvent('invoices.created', Created) {}

const NewInvoice = Type.Object({ customer: Type.String({ minLength: 1, maxLength: 100 }) })
const list = `SELECT id, customer, copies, reminder FROM invoices LEFT JOIN bookings ON invoice = id WHERE organisation = $1`

export const invoices = (pool) =>
  defineModule({
    name: 'invoices',
    access: 'signed-in',
    permissions: { 'Invoices.Write': 'Write invoices' },
    async plugin(app) {
      app.get('/invoices', async (request) => (await pool.query(list, [requireMember(request).id])).rows)

      const forWriters = { config: { access: 'Invoices.Write' }, schema: { body: NewInvoice } }
      app.post('/invoices', forWriters, async (request, reply) => {
        const { id: organisation } = requireMember(request)
        const invoice = randomUUID()
        const row = [invoice, organisation, request.body.customer]
        await transaction(pool, async (client) => {
          await client.query('INSERT INTO invoices VALUES ($1, $2, $3)', row)
          await app.events.publish(new InvoiceCreated({ organisation, invoice }), { tx: pgTx(client) })
        })
        return reply.code(201).send({ id: invoice })
      })
    },
  })
