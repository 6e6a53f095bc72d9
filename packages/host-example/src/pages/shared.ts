/** What every page of the server brings along. */
import { useSetting } from '@fastify-modular/settings/react'
import { usePage } from '@inertiajs/react'
import { useSyncExternalStore } from 'react'
import { type Texts, textsOf } from '../texts/texts.ts'
import type { Look } from '../web/look.ts'
import type { SharedProps } from '../web/shared-props.ts'
import { useTried } from './tried.ts'

type Shared = { readonly [Name in 'app' | 'user']?: SharedProps[Name] | undefined }

let latest: Shared = {}

/** The application and the user. The page of a failed visit comes without them: those of the page before still hold. */
export function useShared(): Shared {
  const { app, user } = usePage<Partial<SharedProps>>().props
  if (typeof window === 'undefined') return { app, user } // the page before was somebody else's
  if (app !== undefined && user !== undefined) latest = { app, user }
  return latest
}

/**
 * The look of the application as it is at this moment: what somebody saves is seen at once in all open pages, what somebody
 * tries before saving it in his own.
 */
export function useLook(): Look | undefined {
  const { app } = useShared()
  const followed = {
    title: useFollowed('app.title'),
    logo: useFollowed('app.logo'),
    banner: useFollowed('app.banner'),
    accent: useFollowed('app.primary_color'),
    theme: useFollowed('app.theme'),
    density: useFollowed('user.preferred_density'),
    language: useFollowed('app.language'),
    isInMaintenance: useFollowed('system.maintenance_mode'),
  }
  const known = Object.entries(followed).filter(([, value]) => value !== undefined)
  return app && { ...app, ...Object.fromEntries(known) }
}

/** What is tried of a setting, or saved; undefined where the page does not know more than it came with. */
function useFollowed(key: string): unknown {
  const saved = useSetting(key)
  const tried = useTried(key) // null: it is emptied
  return tried === undefined ? saved : tried
}

/** The texts in the language of the reader. */
export function useTexts(): Texts {
  return textsOf(useLook()?.language ?? 'en')
}

/** False until the client has taken over what the server has drawn: what needs it is disabled so long, and no click is lost. */
export function useReady(): boolean {
  return useSyncExternalStore(
    () => () => undefined,
    () => true,
    () => false,
  )
}

/** A link to write to this address; `a?bcc=b@example.org` is one, and names nobody else. */
export function mailTo(address: string): string {
  return `mailto:${address.split('@').map(encodeURIComponent).join('@')}`
}
