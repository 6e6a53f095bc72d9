/** Settings that somebody tries before saving them: their own page shows them, and nobody else's. */
import { useSyncExternalStore } from 'react'

let drafts: Readonly<Record<string, unknown>> = {}
const listeners = new Set<() => void>()

function keep(next: typeof drafts): void {
  drafts = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Shows a value where its setting shows; undefined: what is saved is shown again. */
export function tryOut(key: string, value: unknown): void {
  keep({ ...drafts, [key]: value })
}

/** Nothing is tried any more. */
export function forgetTried(): void {
  keep({})
}

/** Whether anything is tried. */
export function isTrying(): boolean {
  return Object.values(drafts).some((value) => value !== undefined)
}

/** What is tried of the setting with this key; undefined: nothing. */
export function useTried(key: string): unknown {
  return useSyncExternalStore(
    subscribe,
    () => drafts[key],
    () => undefined,
  )
}
