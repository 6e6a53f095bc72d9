/** The texts of documents, which the server writes, and of what is loaded when it is first wanted: in English they come with it. */
import english from './en-more.json' with { type: 'json' }
import type { TextsOf } from './messages.ts'

const englishTexts = { ...english }

export type MoreMessages = TextsOf<typeof englishTexts>

/** The English ones. */
export const moreMessages: MoreMessages = englishTexts
