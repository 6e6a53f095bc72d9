/** Settings that somebody tries before saving them: their pages show them, and those of nobody else. */
import type { PreviewSlot, SettingsProps } from '@fastify-modular/settings-ui/react'
import { router } from '@inertiajs/react'
import { useSyncExternalStore } from 'react'
import type { Look } from '../web/look.ts'
import { preview } from '../web/preview.ts'

/** What is tried on these pages: the member of the look that a setting decides, by key. */
export const tried: Readonly<Record<string, PreviewSlot>> = { ...preview, 'app.logo': 'logo' }

let drafts: Readonly<Record<string, unknown>> = {}
const listeners = new Set<() => void>()

function keep(next: typeof drafts): void {
  drafts = next
  for (const listener of listeners) listener()
}

/** For `onPreview` of the settings components. */
export const showPreview: NonNullable<SettingsProps['onPreview']> = (key, value) => {
  const { [tried[key] ?? key]: _before, ...others } = drafts
  keep(value === undefined ? others : { ...others, [tried[key] ?? key]: value })
}

/** For `onSaved`: the page around the settings follows at once; what was saved is no draft any more. */
export function reload(keys: readonly string[]): void {
  const before = drafts
  const saved = new Set<string | undefined>(keys.map((key) => tried[key]))
  const isDraft = ([member, value]: [string, unknown]): boolean =>
    !saved.has(member) || before[member] !== value
  const onFinish = (): void => keep(Object.fromEntries(Object.entries(drafts).filter(isDraft)))
  router.reload({ only: ['app'], onFinish })
}

/** The look, with what is being tried. */
export function usePreviewed(look: Look | undefined): Look | undefined {
  const latest = useSyncExternalStore(subscribe, () => drafts)
  return look && { ...look, ...latest }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
