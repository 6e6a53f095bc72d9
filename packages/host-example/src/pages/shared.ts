/** What every page of the server brings along. */
import { usePage } from '@inertiajs/react'
import type { SharedProps } from '../web/shared-props.ts'
import { type Texts, textsOf } from '../texts/texts.ts'
import { usePreviewed } from './previewed.ts'

let latest: Partial<Pick<SharedProps, 'app' | 'user'>> = {}

/** The application and the user. The page of a failed visit comes without them: those of the page before still hold. */
export function useShared(): Partial<Pick<SharedProps, 'app' | 'user'>> {
  const { app, user } = usePage<Partial<SharedProps>>().props
  if (app !== undefined && user !== undefined) latest = { app, user }
  return usePreviewed(latest)
}

/** The texts in the language of the reader. */
export function useTexts(): Texts {
  return textsOf(useShared().app?.language ?? 'en')
}

/** A link to write to this address; `a?bcc=b@example.org` is one, and names nobody else. */
export function mailTo(address: string): string {
  return `mailto:${address.split('@').map(encodeURIComponent).join('@')}`
}
