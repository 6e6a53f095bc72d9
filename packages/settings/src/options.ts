/** What `app.register(settings, options)` takes. */
import type { TokenMap } from './definitions/builder.ts'
import type { FindCaller } from './http/access.ts'
import type { OwnWrites } from './http/handlers/my-handlers.ts'
import type { Translate } from './http/localize/translate.ts'
import type { SensitiveResolved } from './http/handlers/read-handlers.ts'
import type { Overrides } from './service/write/locked.ts'
import type { SealingKey } from './service/write/sealing.ts'
import type { SettingDefinition } from './setting-definition.ts'
import type { SettingsStore } from './store/store.ts'
import type { ValueLimits } from './values/limits.ts'

/** Sizes; all values can be raised. */
export interface SettingsLimits extends Partial<ValueLimits> {
  /** Entries of one bulk. @default 500 */
  readonly bulkEntries?: number
  /** Bytes of the body of a bulk or an import. @default 524288 */
  readonly bulkBytes?: number
}

/** Options of the settings plugin. */
export interface SettingsOptions {
  /** Definitions and token maps of the host; modules contribute theirs by the hook `settings`. */
  readonly definitions?: readonly (SettingDefinition | TokenMap)[]
  /** Where values are kept. @default in memory, with a warning: nothing is persisted */
  readonly store?: SettingsStore
  /** Who makes a request. @default `request.caller`, which the gate of public-routes sets */
  readonly caller?: FindCaller
  /** The HTTP API; false for none. @default { prefix: '/api/settings' } */
  readonly routes?: false | { readonly prefix?: string }
  /** Values that are fixed and cannot be written, by key; those of `SM_SETTINGS_OVERRIDES` win. */
  readonly overrides?: Overrides
  /** Sensitive values at rest. */
  readonly encryption?: {
    /** 32 bytes each; the first seals, all open. @default those of `SM_SETTINGS_KEYS` */
    readonly keys?: readonly SealingKey[]
    /**
     * What happens when a sensitive setting is defined and there is no key, or when one is stored that is not sealed, as
     * value or in the history: its key is logged, or the application does not boot. @default 'warn'
     */
    readonly mode?: 'warn' | 'require'
    /** Runs `rewrap()` while booting when a sensitive value is stored that is not sealed. @default false */
    readonly sealAtBoot?: boolean
  }
  /** Whether users need `Settings.Update` for their own values. @default 'permission' */
  readonly ownWrites?: OwnWrites
  /** Who gets the sensitive values of others from `/resolved`. @default 'spec': every signed-in caller */
  readonly sensitiveResolved?: SensitiveResolved
  /** Texts of definitions in the languages of `locales`, for `GET /definitions` by `Accept-Language`. @default English */
  readonly translate?: Translate
  /** The languages that `translate` knows, such as `['de', 'de-AT', 'fr']`; it is never called for others. */
  readonly locales?: readonly string[]
  /** How many users' values stay in memory. @default 10000 */
  readonly userCache?: number
  readonly limits?: SettingsLimits
  /** How much history is kept; false keeps all. The newest change of every value stays always. */
  readonly history?: false | HistoryRetentionOptions
}

/** How much history is kept. */
export interface HistoryRetentionOptions {
  /** @default 400 */
  readonly days?: number
  /** Changes of one value; up to seven more until writes of it trim them. @default 100 */
  readonly perValue?: number
}
