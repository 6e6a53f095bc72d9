/** What every page of the server brings along. */
import { useSetting } from '@fastify-modular/settings/react'
import { usePage } from '@inertiajs/react'
import type { Look } from '../web/look.ts'
import type { SharedProps } from '../web/shared-props.ts'
import { type Texts, textsOf } from '../texts/texts.ts'
import { usePreviewed } from './previewed.ts'

let latest: Partial<Pick<SharedProps, 'app' | 'user'>> = {}

/** The application and the user. The page of a failed visit comes without them: those of the page before still hold. */
export function useShared(): Partial<Pick<SharedProps, 'app' | 'user'>> {
  const { app, user } = usePage<Partial<SharedProps>>().props
  if (app !== undefined && user !== undefined) latest = { app, user }
  return latest
}

/**
 * The look of the application as it is at this moment: what somebody saves is seen at once in all open pages, what somebody
 * tries before saving it in his own.
 */
export function useLook(): Look | undefined {
  const { app } = useShared()
  const title = useSetting('app.title')
  const logo = useSetting('app.logo')
  const banner = useSetting('app.banner')
  const accent = useSetting('app.primary_color')
  const isInMaintenance = useSetting('system.maintenance_mode')
  const saved = app && {
    ...app,
    ...(title !== undefined && { title }),
    ...(logo !== undefined && { logo }),
    ...(banner !== undefined && { banner }),
    ...(accent !== undefined && { accent }),
    ...(isInMaintenance !== undefined && { isInMaintenance }),
  }
  return usePreviewed(saved)
}

/** The texts in the language of the reader. */
export function useTexts(): Texts {
  return textsOf(useShared().app?.language ?? 'en')
}

/** A link to write to this address; `a?bcc=b@example.org` is one, and names nobody else. */
export function mailTo(address: string): string {
  return `mailto:${address.split('@').map(encodeURIComponent).join('@')}`
}
