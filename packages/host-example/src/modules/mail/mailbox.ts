/** Where mail goes in this example: a table instead of a server. */
import { type Static, Type } from '@sinclair/typebox'
import type { Database } from '../../database/database.ts'

export const Mail = Type.Object({
  id: Type.String(),
  recipient: Type.String(),
  subject: Type.String(),
  sentAt: Type.String({ format: 'date-time' }),
})
export type Mail = Static<typeof Mail>

export type Mailbox = ReturnType<typeof createMailbox>

export function createMailbox(database: Database) {
  return {
    /** Sends a mail once, however often it is asked to for the same `id`. */
    async send({ id, recipient, subject }: Pick<Mail, 'id' | 'recipient' | 'subject'>): Promise<void> {
      await database.query(
        `insert into mails (id, recipient, subject, sent_at) values ($1, $2, $3, $4)
        on conflict (id) do nothing`,
        [id, recipient, subject, Date.now()],
      )
    },
    /** The latest 100. */
    async list(): Promise<Mail[]> {
      const rows = await database.query('select * from mails order by sent_at desc, id limit 100')
      return rows.map((row) => ({
        id: String(row['id']),
        recipient: String(row['recipient']),
        subject: String(row['subject']),
        sentAt: new Date(Number(row['sent_at'])).toISOString(),
      }))
    },
  }
}
