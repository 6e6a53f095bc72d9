/** Readers of streams who are shown the same, and get the same bytes. */
import { createHash } from 'node:crypto'
import { isUserSetting, type SettingState } from '../memory/shared-values.ts'
import { type SettingValueDto, toSharedDto } from '../reading/dto.ts'
import { parseRevision, type Revision, revisionId } from '../store/revision.ts'
import { isSecret } from '../values/validate.ts'
import { type Visibility, visibleTo } from '../visibility.ts'

/** What an event says about a setting; without `value` where that is secret or long. To strangers key and value alone. */
export interface StreamedSetting extends Partial<Omit<SettingValueDto, 'userId'>> {
  readonly key: string
  /** True where users may have values of their own, which are not in the stream. */
  readonly perUser?: boolean
}

/** Bytes of a value as JSON; of a longer one only the key is sent. */
const longest = 4096

type States = () => readonly SettingState[]

export class Audience {
  readonly #states: States
  readonly #visibility: Pick<Visibility, 'value'>
  /** Returns what is shown beside the value. */
  readonly #describe: (setting: StreamedSetting) => StreamedSetting
  /** Many readers begin with the same after a restart. */
  #snapshot: { readonly id: string; readonly generation: number; readonly bytes: Buffer } | undefined
  #digest: string | undefined

  constructor(states: States, isSignedIn: boolean) {
    this.#states = states
    this.#visibility = visibleTo(isSignedIn ? { id: 'any' } : null)
    this.#describe = isSignedIn ? (setting) => setting : ({ key }) => ({ key })
  }

  /**
   * The id of an event, such as `43-9c1e07d2-5d07ab1c`: the revision, and a digest of what values are resolved with beside
   * stored rows. A deployment changes that without a revision.
   */
  id(revision: Revision): string {
    return `${revisionId(revision)}-${(this.#digest ??= this.#toDigest())}`
  }

  /** The revision that an id names; undefined where this instance would have shown other values for it. */
  known(id: string): Revision | undefined {
    const revision = parseStreamId(id)
    return revision && this.id(revision) === id ? revision : undefined
  }

  /** Call it when locked values have changed. */
  lockedChanged(): void {
    this.#digest = undefined
  }

  /** The event that shows these settings; undefined where the readers may see none of them. */
  change(revision: Revision, states: readonly SettingState[]): Buffer | undefined {
    const shown = this.#show(states)
    return shown.length === 0 ? undefined : encode('change', this.id(revision), shown)
  }

  /** The event that shows everything. */
  snapshot(revision: Revision, generation: number): Buffer {
    const id = this.id(revision)
    if (this.#snapshot?.id !== id || this.#snapshot.generation !== generation)
      this.#snapshot = { id, generation, bytes: encode('snapshot', id, this.#show(this.#states())) }
    return this.#snapshot.bytes
  }

  /** Nothing that the readers may not see goes in: whoever knows the rest could try values until the digest is right. */
  #toDigest(): string {
    const digest = createHash('sha256')
    for (const { setting, locked = null, lockedBy } of this.#states()) {
      const { definition, defaultValue, validate } = setting
      if (!this.#visibility.value(definition)) continue
      const values = isSecret(setting, undefined) ? [] : [defaultValue, locked]
      const shown = { ...definition, defaultValue: null, env: null, write: null }
      digest.update(JSON.stringify([shown, values, lockedBy, String(validate)]))
    }
    return digest.digest('hex').slice(0, 8)
  }

  #show(states: readonly SettingState[]): StreamedSetting[] {
    return states
      .filter(({ setting }) => this.#visibility.value(setting.definition))
      .map((state) => {
        const { userId: _, value, ...rest } = toSharedDto(state)
        const isLong = Buffer.byteLength(JSON.stringify(value)) > longest
        return {
          ...this.#describe({ ...rest, ...(isUserSetting(state) && { perUser: true }) }),
          ...(!isLong && !isSecret(state.setting, state.shared) && { value }),
        }
      })
  }
}

function encode(event: 'change' | 'snapshot', id: string, shown: readonly StreamedSetting[]): Buffer {
  return Buffer.from(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(shown)}\n\n`)
}

/** The revision of an id of an event, of whatever instance. */
export function parseStreamId(id: string): Revision | undefined {
  return parseRevision(/^(.*)-[0-9a-f]{8}$/.exec(id)?.[1])
}

/** Sets the id of a reader, which changes that the reader does not see have moved; not an event. */
export function idAlone(id: string): Buffer {
  return Buffer.from(`id: ${id}\n\n`)
}
