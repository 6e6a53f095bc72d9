/** Values for one test, above everything that is stored. */
import type { SettingKeyMap } from '../definitions/tokens.ts'
import { FMOD_SETTINGS_CANNOT_OVERRIDE } from '../misuse-errors.ts'
import { internalsOf, type Settings, type SettingsInternals } from '../settings.ts'
import type { JsonValue } from '../setting-definition.ts'
import { deepFreeze, encodeValue, readText } from '../values/decode.ts'
import { createPatternBudget } from '../values/pattern.ts'
import { validateValue } from '../values/validate.ts'

/** Values by key: of the type that `SettingKeyMap` says, any JSON for keys that are not in it. */
export type OverrideValues<K extends string> = {
  readonly [P in K]: P extends keyof SettingKeyMap ? SettingKeyMap[P] : JsonValue
}

type Layer = ReadonlyMap<string, JsonValue>

/** The layers of each application, the last one on top. */
const layersOf = new WeakMap<SettingsInternals, readonly Layer[]>()

/**
 * Makes settings have other values until the result is disposed of: `using _ = overrideSettings(app, { 'mail.port': 1 })`.
 * They hold for everybody, as if the host had locked them: listeners hear of them, writes of these keys are refused with
 * 409, nothing is stored. Several may lie upon each other, and end in any order.
 * @throws {FMOD_SETTINGS_CANNOT_OVERRIDE} with every key that no module defines and every value that does not fit
 */
export function overrideSettings<K extends string>(
  app: { readonly settings: Settings },
  values: OverrideValues<K>,
): Disposable {
  return overrideAll(app.settings, values)
}

/** The same for the settings themselves. */
export function overrideAll(settings: Settings, values: Readonly<Record<string, unknown>>): Disposable {
  const internals = internalsOf(settings)
  if (!internals) throw new FMOD_SETTINGS_CANNOT_OVERRIDE('the application has no settings of this package')
  const layer = readLayer(values, internals)
  setLayers(internals, layer, (layers) => [...layers, layer])
  return {
    // Disposing of it again finds no layer and changes nothing.
    [Symbol.dispose]: () =>
      setLayers(internals, layer, (layers) => layers.filter((other) => other !== layer)),
  }
}

/** A checked copy: later changes of the caller's objects have no effect. */
function readLayer(values: Readonly<Record<string, unknown>>, { registry }: SettingsInternals): Layer {
  const problems: string[] = []
  const layer = new Map<string, JsonValue>()
  for (const [key, value] of Object.entries(values)) {
    const setting = registry.find(key)
    if (!setting) problems.push(`no module defines "${key}"`)
    else {
      const messages = validateValue(setting, value, createPatternBudget(1000))
      problems.push(...messages.map((message) => `"${key}": ${message}`))
      if (messages.length === 0) layer.set(key, deepFreeze(readText(encodeValue(value as JsonValue)))) // the validation has parsed it
    }
  }
  if (problems.length > 0) throw new FMOD_SETTINGS_CANNOT_OVERRIDE(problems.join('; '))
  return layer
}

function setLayers(
  internals: SettingsInternals,
  touched: Layer,
  edit: (layers: readonly Layer[]) => readonly Layer[],
): void {
  const layers = edit(layersOf.get(internals) ?? [])
  layersOf.set(internals, layers)
  const topmost = (key: string) => layers.findLast((layer) => layer.has(key))?.get(key)
  internals.notify(
    internals.sharedValues.lock(new Map([...touched.keys()].map((key) => [key, topmost(key)]))),
  )
}
