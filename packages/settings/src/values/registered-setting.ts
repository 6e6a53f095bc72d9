/** A definition as the application uses it: checked, completed, and with what can be worked out once. */
import type { TSchema } from '@sinclair/typebox'
import {
  type CompleteDefinition,
  type JsonValue,
  type SettingDefinition,
  SettingType,
} from '../setting-definition.ts'
import type { CompiledPattern } from './pattern.ts'

/** One registered setting; frozen. */
export interface RegisteredSetting {
  readonly definition: CompleteDefinition
  /** The module that declared it; the host's own definitions name the host. */
  readonly module: string
  /** The default decoded (decision 4) and deep-frozen; null if there is none. */
  readonly defaultValue: JsonValue
  /** Null where there is none, or the type ignores patterns (S 2.3.2). */
  readonly pattern: CompiledPattern | null
  /** What the values of a Json look like; null where anything goes. */
  readonly schema: TSchema | null
  readonly validate: SettingRule | null
  /** The longest value, in UTF-8 bytes of its text (decision 11). */
  readonly maxBytes: number
}

/**
 * Whether responses hide a stored value (decision 13): the definition is sensitive, or was when the value was sealed.
 * @param row where the value is stored; undefined for defaults and locked values
 */
export function isSecret(
  { definition }: RegisteredSetting,
  row: { readonly sealed: boolean } | undefined,
): boolean {
  return definition.sensitive || row?.sealed === true
}

/** A rule of the developer's own about one value. */
type SettingRule = NonNullable<SettingDefinition['validate']>

/** Limits of values, in UTF-8 bytes of their text. */
export interface ValueLimits {
  /** MultilineText and Json. @default 65536 */
  readonly longBytes: number
  /** All other types. @default 16384 */
  readonly textBytes: number
}

export const defaultLimits: ValueLimits = { longBytes: 64 * 1024, textBytes: 16 * 1024 }

/** Deeper JSON is refused. */
export const maxJsonDepth = 32

/** The limit of a setting's values, by type. */
export function maxBytesOf(type: SettingType, limits: ValueLimits): number {
  return type === SettingType.MultilineText || type === SettingType.Json ? limits.longBytes : limits.textBytes
}
