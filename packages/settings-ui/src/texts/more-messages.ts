/** The texts of documents, which the server writes, and of what is loaded after the first row: in English they come with it. */
import english from './en-more.json' with { type: 'json' }
import type { Messages } from './messages.ts'
import type { TextsOf } from './texts-of.ts'

const englishTexts = { ...english }

export type MoreMessages = TextsOf<typeof englishTexts>

/** The English ones. */
export const moreMessages: MoreMessages = englishTexts

/** The texts that scripts have. */
export type WholeMessages = Messages & MoreMessages

export function wholeMessages(messages: Messages): WholeMessages {
  return { ...moreMessages, ...messages }
}
