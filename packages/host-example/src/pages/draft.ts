/** What a stranger has tried, on its way to the page where it is saved: in the fragment of an address, which no server sees. */
import { router } from '@inertiajs/react'

export type Draft = Readonly<Record<string, string>>

/** The settings that strangers may try. */
export const tried = { title: 'app.title', color: 'app.primary_color', banner: 'app.banner' } as const

const mark = '#draft='

/** Most characters of a draft: a link could hold more than anybody has typed. */
const limit = 2048

/** The fragment with this draft. */
export function draftFragment(draft: Draft): string {
  return `${mark}${encodeURIComponent(JSON.stringify(draft))}`
}

/** Takes the draft out of the address, if there is one. Anybody may have made the link: it is shown before it is saved. */
export function takeDraft(): Draft | undefined {
  const { hash, pathname } = window.location
  if (!hash.startsWith(mark)) return undefined
  router.replace({ url: pathname, preserveState: true })
  return hash.length > mark.length + limit ? undefined : parse(hash.slice(mark.length))
}

function parse(text: string): Draft | undefined {
  try {
    const found: unknown = JSON.parse(decodeURIComponent(text))
    const entries = Object.values(tried).map((key) => [key, Reflect.get(Object(found), key)] as const)
    return Object.fromEntries(entries.filter(([, value]) => typeof value === 'string'))
  } catch {
    return undefined
  }
}
