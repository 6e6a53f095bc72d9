/** Values for one test, above everything that is stored. */
import type { SettingKeyMap } from '../definitions/tokens.ts'
import { errorCodes } from '../misuse-errors.ts'
import type { Parts } from '../parts.ts'
import { partsOf, type Settings } from '../settings.ts'
import { type Locked, type LockedValue, problemsOf } from '../overrides.ts'
import type { JsonValue } from '../setting-definition.ts'
import { deepFreeze, encodeValue, readText } from '../values/json.ts'

/** Values by key: of the type that `SettingKeyMap` says, any JSON for keys that are not in it. */
export type OverrideValues<K extends string> = {
  readonly [P in K]: P extends keyof SettingKeyMap ? SettingKeyMap[P] : JsonValue
}

/** The layers of each application: those of the host first, the last override on top. */
const layersOf = new WeakMap<Parts, readonly Locked[]>()

/**
 * Makes settings have other values until the result is disposed of: `using _ = overrideSettings(app, { 'mail.port': 1 })`.
 * They hold for every reader, as if the host had locked them: listeners are notified, writes of these keys are refused
 * with 409, nothing is stored. Overrides may overlap and end in any order.
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
  const parts = partsOf(settings)
  if (!parts)
    throw new errorCodes.FMOD_SETTINGS_CANNOT_OVERRIDE('the application has no settings of this package')
  const layer = readLayer(values, parts)
  setLayers(parts, layer, (layers) => [...layers, layer])
  return {
    // Disposing of it again finds no layer and changes nothing.
    [Symbol.dispose]: () => setLayers(parts, layer, (layers) => layers.filter((other) => other !== layer)),
  }
}

/** A checked copy: later changes of the caller's objects have no effect. */
function readLayer(values: Readonly<Record<string, unknown>>, { registry }: Parts): Locked {
  const problems = Object.entries(values).flatMap(([key, value]) => problemsOf(key, value, registry))
  if (problems.length > 0) throw new errorCodes.FMOD_SETTINGS_CANNOT_OVERRIDE(problems.join('; '))
  const layer = Object.entries(values).map(([key, value]): [string, LockedValue] => {
    const copy = readText(encodeValue(value as JsonValue)) // the validation has parsed it
    return [key, { value: deepFreeze(copy), by: 'option' }]
  })
  return new Map(layer)
}

function setLayers(
  parts: Parts,
  touched: Locked,
  edit: (layers: readonly Locked[]) => readonly Locked[],
): void {
  const { locked, sharedValues, changes } = parts
  const layers = edit(layersOf.get(parts) ?? [new Map(locked)])
  layersOf.set(parts, layers)
  for (const key of touched.keys()) {
    const value = layers.findLast((layer) => layer.has(key))?.get(key)
    if (value === undefined) locked.delete(key)
    else locked.set(key, value)
  }
  changes.shared(sharedValues.resolveAgain(new Set(touched.keys())))
}
