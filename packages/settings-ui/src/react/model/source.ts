/** Where a page reads and writes: the shared values of an administration, or the caller's own. */
import { type Api, ApiError, type Entry } from './api.ts'
import { SettingScope } from './kinds.ts'
import type { Definition, SettingValue } from './setting.ts'

/** What became of a save: what the API took, and what kept it from taking the rest. */
export interface SaveOutcome {
  /** The values as they are now; undefined where the API does not tell. */
  readonly saved: readonly (SettingValue | undefined)[]
  readonly keys: readonly string[]
  readonly error?: ApiError
}

export interface SettingsSource {
  readonly isOwn: boolean
  definitions(): Promise<readonly Definition[]>
  values(): Promise<readonly SettingValue[]>
  save(entries: readonly Entry[]): Promise<SaveOutcome>
  reset(value: SettingValue): Promise<SettingValue | undefined>
}

/** System and Application values, and the application defaults of User settings: saved all or nothing. */
export function sharedSource(api: Api): SettingsSource {
  return {
    isOwn: false,
    definitions: api.definitions,
    values: api.list,
    reset: api.reset,
    async save(entries) {
      const keys = entries.map(({ key }) => key)
      try {
        return { keys, saved: (await api.updateMany(entries)) ?? keys.map(() => undefined) }
      } catch (error) {
        return { keys: [], saved: [], error: toApiError(error) }
      }
    },
  }
}

/** The caller's own values: saved one by one, because the API has no bulk for them. */
export function ownSource(api: Api): SettingsSource {
  return {
    isOwn: true,
    definitions: async () => (await api.definitions()).filter(({ scope }) => scope === SettingScope.User),
    values: api.me,
    reset: api.resetOwn,
    save: (entries) => saveEach(entries, api.updateOwn),
  }
}

/** Goes on after a value that was refused; stops where the others would fare no better. */
async function saveEach(
  entries: readonly Entry[],
  write: (entry: Entry) => Promise<SettingValue | undefined>,
): Promise<SaveOutcome> {
  const saved: (SettingValue | undefined)[] = []
  const keys: string[] = []
  const errors: Record<string, readonly string[]> = {}
  let refusal: ApiError | undefined
  for (const entry of entries) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- in order, so that it stops where it must
      saved.push(await write(entry))
      keys.push(entry.key)
    } catch (error) {
      const failure = toApiError(error)
      const isOfThisValue = [409, 412, 422].includes(failure.status)
      if (!isOfThisValue) return { saved, keys, error: failure }
      Object.assign(errors, failure.problem.errors)
      refusal = failure.status === 422 && refusal ? refusal : failure
    }
  }
  if (!refusal) return { saved, keys }
  return { saved, keys, error: new ApiError(refusal.status, { ...refusal.problem, errors }) }
}

/** Anything else than an answer of the API is no answer. */
export function toApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(0)
}
