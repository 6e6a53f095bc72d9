/** Tells the owner that a note is public now. */
import { NoteShared } from '../notes/note-shared.ts'
import type { Mailbox } from './mailbox.ts'

/** Handles `notes.shared` (S 6.3). A durable transport may deliver an event twice: its id makes that one mail. */
export class ShareMailHandler {
  static readonly event = NoteShared
  readonly #mailbox: Mailbox

  constructor(mailbox: Mailbox) {
    this.#mailbox = mailbox
  }

  async handle(event: NoteShared): Promise<void> {
    const subject = `Everybody can read your note “${event.title}” now`
    await this.#mailbox.send({ id: event.eventId, recipient: event.owner, subject })
  }
}
