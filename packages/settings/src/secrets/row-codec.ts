/** Between stored text and values: decoding by definition, encryption of sensitive ones. */
import type { FastifyBaseLogger } from 'fastify'
import { errorCodes } from '../misuse-errors.ts'
import type { RowId, StoredRow } from '../store/store.ts'
import { deepFreeze, readText } from '../values/json.ts'
import { parseValue, type RegisteredSetting } from '../values/validate.ts'
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

interface RowCodecInit {
  readonly encryption: Encryption
  /** Whether a sensitive value that is not encrypted is unreadable. Looked at each time. */
  readonly refusesPlain: () => boolean
  readonly observer: Pick<Observer, 'foundInvalid'>
  readonly log: FastifyBaseLogger
}

export class RowCodec {
  readonly #init: RowCodecInit
  readonly #reported = new Set<string>()
  readonly #trusted = new WeakSet<StoredRow>()

  constructor(init: RowCodecInit) {
    this.#init = init
  }

  /** How a row reads under its definition today. */
  layerOf(setting: RegisteredSetting, row: StoredRow): Layer {
    const { refusesPlain, log } = this.#init
    const { key, scope } = row
    if (!row.encrypted && setting.definition.sensitive && refusesPlain()) {
      // Its writer had no key: a process with another configuration, or an intruder in the database.
      if (this.#isFirstReport(row))
        log.error(
          { key, scope },
          'a sensitive setting is stored in plain text although encryption is required, and is not served',
        )
      return { state: 'unreadable', row, error: new errorCodes.FMOD_SETTINGS_UNREADABLE(key, storedPlain) }
    }
    let text: string
    try {
      text = this.textOf(row, row)
    } catch (cause) {
      const error = new errorCodes.FMOD_SETTINGS_UNREADABLE(key, notDecrypted(cause))
      error.cause = cause
      return { state: 'unreadable', row, error }
    }
    const value = this.#trusted.has(row) ? deepFreeze(readText(text)) : this.#decode(setting, row, text)
    if (value !== null) return { state: 'valid', value, row }
    if (this.#isFirstReport(row))
      log.warn({ key, scope }, 'stored setting no longer fits its definition and counts as unset')
    return { state: 'invalid', row }
  }

  /** Null as well where a rule of the developer's own fails at the value: every other setting is to be read nevertheless. */
  #decode(setting: RegisteredSetting, row: StoredRow, text: string): JsonValue {
    try {
      return decodeStored(setting, text)
    } catch {
      const { key, scope } = row // what was thrown may quote the value
      if (this.#isFirstReport(row))
        this.#init.log.error(
          { key, scope },
          'the rule of a setting fails at its stored value, which counts as unset',
        )
      return null
    }
  }

  /** Marks these very rows as just validated: reading them does not validate them again. */
  trust(rows: Iterable<StoredRow>): void {
    for (const row of rows) this.#trusted.add(row)
  }

  /** What to store for the canonical text of a value: encrypted if the setting is sensitive and there is a key. */
  toStored({ definition }: RegisteredSetting, id: RowId, text: string): StoredText {
    const { encryption } = this.#init
    const encrypted = definition.sensitive && encryption.activeKeyId !== null
    return { value: encrypted ? encryption.encrypt(id, text) : text, encrypted }
  }

  /** The canonical text of what is stored. @throws {Error} it cannot be decrypted */
  textOf(id: RowId, { value, encrypted }: StoredText): string {
    return encrypted ? this.#init.encryption.decrypt(id, value) : value
  }

  /** Once for each value of a definition, however often it is loaded; never the value itself. */
  #isFirstReport({ key, scope }: RowId): boolean {
    const name = `${scope} ${key}`
    if (this.#reported.has(name)) return false
    this.#reported.add(name)
    this.#init.observer.foundInvalid({ key, scope })
    return true
  }
}

const storedPlain = 'it is stored in plain text although encryption is required. Write the value again'

function notDecrypted(cause: unknown): string {
  const reason = cause instanceof Error ? cause.message : 'unknown'
  return `it cannot be decrypted with the keys at hand (${reason}). Add the key it was encrypted with to the option encryption.keys, or write the value again`
}

/** The value of a stored text, deep-frozen; null if it is not JSON or does not fit the definition any more. */
export function decodeStored(setting: RegisteredSetting, text: string): JsonValue {
  const value = readText(text)
  const parsed = parseValue(setting, value)
  return value === null || parsed.errors.length > 0 ? null : deepFreeze(parsed.value)
}
