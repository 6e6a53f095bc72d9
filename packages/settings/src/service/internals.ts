/** The way from `app.settings` to its memory, for the testing entry only: production code has no means to pass off values. */
import type { Registry } from '../definitions/registry.ts'
import type { EffectiveChange, Snapshot } from './read/snapshot.ts'
import type { Settings } from './settings.ts'

/** What test helpers work on. */
export interface SettingsInternals {
  readonly registry: Registry
  readonly snapshot: Snapshot
  /** Calls the listeners of `settings.on`. */
  notify(changes: readonly EffectiveChange[]): void
}

const internals = new WeakMap<Settings, SettingsInternals>()

/** Remembers the internals of settings for as long as these live. */
export function rememberInternals(settings: Settings, own: SettingsInternals): void {
  internals.set(settings, own)
}

/** The internals of `app.settings`; undefined for an object that this package did not make. */
export function internalsOf(settings: Settings): SettingsInternals | undefined {
  return internals.get(settings)
}
