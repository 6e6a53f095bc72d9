/** The texts that the server says itself, or fills in: no script has them. */
import english from './en-server.json' with { type: 'json' }
import type { TextsOf } from './texts-of.ts'

const englishTexts = { ...english }

export type ServerMessages = TextsOf<typeof englishTexts>

/** The English ones. */
export const serverMessages: ServerMessages = englishTexts
