/** Readers of streams who are shown the same, and get the same bytes. */
import { createHash } from 'node:crypto'
import { isTenantSetting, isUserSetting, type SettingState } from '../memory/shared-values.ts'
import { type SettingValueDto, toSharedDto } from '../reading/dto.ts'
import { isSecret } from '../values/validate.ts'
import { type Visibility, visibleTo } from '../visibility.ts'

/** What an event says about a setting; without `value` where that is secret or long. To strangers key and value alone. */
export interface StreamedSetting extends Partial<Omit<SettingValueDto, 'userId'>> {
  readonly key: string
  /** True where users may have values of their own, which are not in the stream. */
  readonly perUser?: boolean
  /** True where a tenant may have a value of its own, which is not in the stream: `value` is everybody's. */
  readonly inherits?: boolean
}

/** Bytes as JSON. Of a longer value only the key is sent; what is longer altogether is read, as a list that is compressed. */
const longest = { value: 4096, snapshot: 30_000 }

/** What is known of a row that is shown: a round costs what has changed. */
interface Row {
  /** Of all that the readers may see of it, also of a long value. */
  readonly hash: number
  /** Bytes that are sent for it. */
  readonly length: number
}

/** Hashes are added up below it. */
const modulus = 2 ** 48

export class Audience {
  readonly #states: () => readonly SettingState[]
  readonly #visibility: Pick<Visibility, 'value'>
  /** Returns what is shown beside the value. */
  readonly #describe: (setting: StreamedSetting) => StreamedSetting
  /** By key; undefined before the first reader. */
  #rows: Map<string, Row> | undefined
  #hash = 0
  #length = 0
  /** Many readers begin with the same after a restart. */
  #snapshot: { readonly id: string; readonly bytes: Buffer } | undefined

  constructor(states: () => readonly SettingState[], isSignedIn: boolean) {
    this.#states = states
    this.#visibility = visibleTo(isSignedIn ? { id: 'any' } : null)
    this.#describe = isSignedIn
      ? (setting) => setting
      : ({ key, inherits }) => ({ key, ...(inherits && { inherits }) })
  }

  /**
   * The id of an event, such as `43-9c1e07d25d07`: the revision, and a hash of what its readers see. A deployment changes that
   * without a revision, a database that was restored comes to the same numbers again.
   */
  id(revision: number): string {
    if (!this.#rows) {
      this.#rows = new Map()
      this.take(this.#states())
    }
    return `${revision}-${this.#hash.toString(16).padStart(12, '0')}`
  }

  /** Call it when settings have changed. */
  take(states: readonly SettingState[]): void {
    if (!this.#rows) return
    for (const state of this.#visible(states)) {
      const { key } = state.setting.definition
      const { hash: oldHash = 0, length: oldLength = 0 } = this.#rows.get(key) ?? {}
      const row = this.#toRow(state)
      this.#rows.set(key, row)
      this.#hash = (this.#hash - oldHash + row.hash + modulus) % modulus
      this.#length += row.length - oldLength
    }
  }

  /** The event that shows these settings; undefined where the readers may see none of them. */
  change(revision: number, states: readonly SettingState[]): Buffer | undefined {
    const shown = this.#visible(states).map((state) => this.#show(state))
    return shown.length === 0 ? undefined : encode('change', this.id(revision), shown)
  }

  /** The event that shows everything, or where that is long, says that it is to be read. */
  snapshot(revision: number): Buffer {
    const id = this.id(revision)
    if (this.#snapshot?.id === id) return this.#snapshot.bytes
    const bytes =
      this.#length > longest.snapshot
        ? encode('read', id, {})
        : encode(
            'snapshot',
            id,
            this.#visible(this.#states()).map((state) => this.#show(state)),
          )
    this.#snapshot = { id, bytes }
    return bytes
  }

  /** How a stream begins: with nothing for a reader who knows the current event, with everything for any other one. */
  first(revision: number, known: unknown): Buffer {
    const id = this.id(revision)
    return known === id ? idAlone(id) : this.snapshot(revision)
  }

  /** Nothing that the readers may not see goes in: whoever knows the rest could try values until the hash is right. */
  #toRow(state: SettingState): Row {
    const shown = JSON.stringify(this.#show(state))
    const { value } = toSharedDto(state) // null of a secret
    const digest = createHash('sha256')
      .update(JSON.stringify([shown, value]))
      .digest()
    return { hash: digest.readUIntBE(0, 6), length: Buffer.byteLength(shown) }
  }

  #visible(states: readonly SettingState[]): readonly SettingState[] {
    return states.filter(({ setting }) => this.#visibility.value(setting.definition))
  }

  #show(state: SettingState): StreamedSetting {
    const { userId: _, value, ...rest } = toSharedDto(state)
    const isLong = Buffer.byteLength(JSON.stringify(value)) > longest.value
    return {
      ...this.#describe({
        ...rest,
        ...(isUserSetting(state) && { perUser: true }),
        ...(isTenantSetting(state) && { inherits: true }),
      }),
      ...(!isLong && !isSecret(state.setting, state.shared) && { value }),
    }
  }
}

function encode(event: 'change' | 'snapshot' | 'read', id: string, shown: object): Buffer {
  return Buffer.from(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(shown)}\n\n`)
}

/** The revision of an id of an event, of whatever instance; 0 for other texts. */
export function revisionOf(id: string): number {
  return Number(/^(\d{1,15})-[0-9a-f]{12}$/.exec(id)?.[1] ?? 0)
}

/** Sets the id of a reader, which changes that the reader does not see have moved; not an event. */
export function idAlone(id: string): Buffer {
  return Buffer.from(`id: ${id}\n\n`)
}
