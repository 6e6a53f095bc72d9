/** The page, for what is loaded when it is first wanted, with the texts that come with that. */
import { useMemo } from 'preact/hooks'
import type { Messages } from '../texts/messages.ts'
import { type MoreMessages, moreMessages } from '../texts/more-messages.ts'
import { type PageContext, usePage } from './page-context.ts'

/** The texts that scripts have. */
export type WholeMessages = Messages & MoreMessages

export function useWholePage(): PageContext & { readonly messages: WholeMessages } {
  const page = usePage()
  return useMemo(() => ({ ...page, messages: { ...moreMessages, ...page.messages } }), [page])
}
