/** Readers of streams who are shown the same, and get the same bytes. */
import { isUserSetting, type SettingState, sharedScope } from '../memory/shared-values.ts'
import { type SettingValueDto, toSharedDto } from '../reading/dto.ts'
import { isSecret } from '../values/validate.ts'
import type { Visibility } from '../visibility.ts'

/** What an event says about a setting; without `value` where that is secret or long. To strangers key and value alone. */
export interface StreamedSetting extends Partial<Omit<SettingValueDto, 'userId'>> {
  readonly key: string
  /** True where users may have values of their own, which are not in the stream. */
  readonly perUser?: boolean
}

/** Bytes of a value as JSON; of a longer one only the key is sent. */
const longest = 4096

export class Audience {
  readonly #visibility: Pick<Visibility, 'value'>
  readonly #describe: (setting: Omit<StreamedSetting, 'value'>) => StreamedSetting
  /** Many readers begin with the same after a restart. */
  #snapshot: { readonly id: string; readonly generation: number; readonly bytes: Buffer } | undefined

  /** @param describe returns what is shown beside the value */
  constructor(
    visibility: Pick<Visibility, 'value'>,
    describe: (setting: Omit<StreamedSetting, 'value'>) => StreamedSetting,
  ) {
    this.#visibility = visibility
    this.#describe = describe
  }

  /** The event that shows these settings; undefined where the readers may see none of them. */
  change(id: string, states: readonly SettingState[]): Buffer | undefined {
    const shown = this.#show(states)
    return shown.length === 0 ? undefined : encode('change', id, shown)
  }

  /** The event that shows everything. */
  snapshot(id: string, generation: number, states: () => readonly SettingState[]): Buffer {
    if (this.#snapshot?.id !== id || this.#snapshot.generation !== generation)
      this.#snapshot = { id, generation, bytes: encode('snapshot', id, this.#show(states())) }
    return this.#snapshot.bytes
  }

  #show(states: readonly SettingState[]): StreamedSetting[] {
    return states
      .filter(({ setting }) => this.#visibility.value(setting.definition))
      .map((state) => {
        const { userId: _, value, ...rest } = toSharedDto(state, sharedScope(state))
        const isLong = Buffer.byteLength(JSON.stringify(value)) > longest
        return {
          ...this.#describe({ ...rest, ...(isUserSetting(state) && { perUser: true }) }),
          ...(!isLong && !isSecret(state.setting, state.shared.row) && { value }),
        }
      })
  }
}

function encode(event: 'change' | 'snapshot', id: string, shown: readonly StreamedSetting[]): Buffer {
  return Buffer.from(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(shown)}\n\n`)
}

/** Sets the id of a reader, which changes that the reader does not see have moved; not an event. */
export function idAlone(id: string): Buffer {
  return Buffer.from(`id: ${id}\n\n`)
}
