// What the worker does with an invoice: it books it as its organisation has set.
import { defineModule } from '@fastify-modular/core'
import { OpenFeature } from '@openfeature/server-sdk'
import { InvoiceCreated } from './invoices.mjs'
import { invoicing } from './settings.mjs'

// An event may arrive twice: its id makes that one booking.
const book = 'INSERT INTO bookings VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING'

class BookInvoiceHandler {
  static event = InvoiceCreated

  constructor(app, pool) {
    Object.assign(this, { settings: app.settings, pool, flags: OpenFeature.getClient() })
  }

  async handle({ eventId, organisation: tenant, invoice }) {
    const copies = (await this.settings.forTenant(tenant)).get(invoicing.copies)
    const reminder = await this.flags.getBooleanValue(invoicing.reminders.key, false, { tenant })
    await this.pool.query(book, [eventId, invoice, copies, reminder])
  }
}

export const bookkeeping = (app, pool) =>
  defineModule({ name: 'bookkeeping', handlers: [new BookInvoiceHandler(app, pool)] })
