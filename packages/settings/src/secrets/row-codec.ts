/** Between stored text and values: decoding by definition, encryption of sensitive ones. */
import type { FastifyBaseLogger } from 'fastify'
import { FMOD_SETTINGS_UNREADABLE } from '../misuse-errors.ts'
import type { RowId, StoredRow } from '../store/store.ts'
import { type Decoded, deepFreeze, parseJson, refused } from '../values/json.ts'
import { type RegisteredSetting, validateValue } from '../values/validate.ts'
import type { Observer } from '../diagnostics.ts'
import type { JsonValue } from '../setting-definition.ts'
import type { Encryption } from './encryption.ts'

/**
 * A stored value as memory keeps it. `invalid`: it no longer fits its definition and counts as unset;
 * `unreadable`: it is encrypted with a key that is not at hand, and reading it must fail rather than pass for unset.
 */
export type Layer =
  | { readonly state: 'valid'; readonly value: JsonValue; readonly row: StoredRow }
  | { readonly state: 'invalid'; readonly row: StoredRow }
  | { readonly state: 'unreadable'; readonly row: StoredRow; readonly error: Error }

/** What a row stores: canonical JSON text, or its envelope. */
interface StoredText {
  readonly value: string
  readonly encrypted: boolean
}

export interface RowCodec {
  /** How a row reads under its definition today. */
  layerOf(setting: RegisteredSetting, row: StoredRow): Layer
  /** Marks these very rows as just validated: reading them does not validate them again. */
  trust(rows: Iterable<StoredRow>): void
  /** What to store for the canonical text of a value: encrypted if the setting is sensitive and there is a key. */
  toStored(setting: RegisteredSetting, id: RowId, text: string): StoredText
  /** The canonical text of what is stored. @throws {Error} it cannot be decrypted */
  textOf(id: RowId, stored: StoredText): string
}

interface RowCodecInit {
  readonly encryption: Encryption
  /** Whether a sensitive value that is not encrypted is unreadable. Looked at each time. */
  readonly refusesPlain: () => boolean
  readonly observer: Pick<Observer, 'foundInvalid'>
  readonly log: FastifyBaseLogger
}

export function createRowCodec({ encryption, refusesPlain, observer, log }: RowCodecInit): RowCodec {
  const reported = new Set<string>()
  const trusted = new WeakSet<StoredRow>()

  function textOf(id: RowId, { value, encrypted }: StoredText): string {
    return encrypted ? encryption.decrypt(id, value) : value
  }

  /** Once for each value of a definition, however often it is loaded; never the value itself. */
  function isFirstReport({ key, scope }: RowId): boolean {
    const name = `${scope} ${key}`
    if (reported.has(name)) return false
    reported.add(name)
    observer.foundInvalid({ key, scope })
    return true
  }

  /** Its writer had no key: a process with another configuration, or an intruder in the database. */
  function plainSecret(row: StoredRow): Layer {
    const { key, scope } = row
    if (isFirstReport(row))
      log.error(
        { key, scope },
        'a sensitive setting is stored in plain text although encryption is required, and is not served',
      )
    return {
      state: 'unreadable',
      row,
      error: new FMOD_SETTINGS_UNREADABLE(key, storedPlain),
    }
  }

  return {
    textOf,
    layerOf(setting, row) {
      if (!row.encrypted && setting.definition.sensitive && refusesPlain()) return plainSecret(row)
      let text: string
      try {
        text = textOf(row, row)
      } catch (cause) {
        const error = new FMOD_SETTINGS_UNREADABLE(row.key, notDecrypted(cause))
        error.cause = cause
        return { state: 'unreadable', row, error }
      }
      const decoded = trusted.has(row) ? decodeValidated(text) : decodeStored(setting, text)
      if (decoded.ok) return { state: 'valid', value: decoded.value, row }
      if (isFirstReport(row))
        log.warn(
          { key: row.key, scope: row.scope },
          'stored setting no longer fits its definition and counts as unset',
        )
      return { state: 'invalid', row }
    },
    trust(rows) {
      for (const row of rows) trusted.add(row)
    },
    toStored(setting, id, text) {
      if (!setting.definition.sensitive || encryption.activeKeyId === null)
        return { value: text, encrypted: false }
      return { value: encryption.encrypt(id, text), encrypted: true }
    },
  }
}

const storedPlain = 'it is stored in plain text although encryption is required. Write the value again'

function notDecrypted(cause: unknown): string {
  const reason = cause instanceof Error ? cause.message : 'unknown'
  return `it cannot be decrypted with the keys at hand (${reason}). Add the key it was encrypted with to the option encryption.keys, or write the value again`
}

/**
 * Decodes what a store keeps, deep-frozen; not ok when it is not JSON or no longer fits the definition: the setting then
 * has its default. The errors never repeat the value.
 */
export function decodeStored(setting: RegisteredSetting, text: string): Decoded {
  const decoded = decodeValidated(text)
  if (!decoded.ok) return decoded
  const errors = validateValue(setting, decoded.value)
  return errors.length > 0 ? { ok: false, errors } : decoded
}

/** The same for a text whose value was validated when it was written. */
function decodeValidated(text: string): Decoded {
  const parsed = parseJson(text)
  if (!parsed.ok) return parsed
  return parsed.value === null
    ? refused('A stored value is never null.')
    : { ok: true, value: deepFreeze(parsed.value) }
}
