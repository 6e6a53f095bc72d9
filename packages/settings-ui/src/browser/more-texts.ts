/** The page, for what is loaded after the first row, with the texts that come with that. */
import { useMemo } from 'preact/hooks'
import { wholeMessages, type WholeMessages } from '../texts/more-messages.ts'
import { type PageContext, usePage } from './page-context.ts'

export interface WholePage extends PageContext {
  readonly messages: WholeMessages
}

export function useWholePage(): WholePage {
  const page = usePage()
  return useMemo(() => ({ ...page, messages: wholeMessages(page.messages) }), [page])
}
