/** The page, for what is loaded when it is first wanted, with the texts that come with that. */
import { useMemo } from 'preact/hooks'
import type { AllMessages } from '../texts/messages.ts'
import { moreMessages } from '../texts/more-messages.ts'
import { type PageContext, usePage } from './page-context.ts'

export function useWholePage(): PageContext & { readonly messages: AllMessages } {
  const page = usePage()
  return useMemo(() => ({ ...page, messages: { ...moreMessages, ...page.messages } }), [page])
}
