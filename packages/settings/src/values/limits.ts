/** How long values may be (decision 11). */
import { SettingType } from '../setting-definition.ts'

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
