/** Where a page reads and writes: the HTTP API, for the shared values of an administration or for the caller's own. */
import {
  type SettingsClient,
  type SettingsClientOptions,
  SettingScope,
  SettingsRequestError,
} from '@fastify-modular/settings/client'
import type { Messages } from '../../texts/messages.ts'
import { type Definition, type JsonValue, type SettingValue, splitError } from './setting.ts'

/** One value to write; `version` is that of the value it replaces. */
export interface Entry {
  readonly key: string
  readonly scope: SettingScope
  readonly value: JsonValue
  readonly version: number
}

/** Versions of values by key. */
export type Versions = Readonly<Record<string, number>>

/** Those that stand in the way of a write. */
export function versionsOf({ conflicts }: SettingsRequestError): Versions {
  return Object.fromEntries(conflicts.map(({ key, version }) => [key, version]))
}

/** What became of a save: what the API took, and what kept it from taking the rest. */
export interface SaveOutcome {
  /** The values as they are now; undefined where the API does not return them. */
  readonly saved: readonly (SettingValue | undefined)[]
  readonly keys: readonly string[]
  readonly error?: SettingsRequestError
}

export interface SettingsSource {
  readonly isOwn: boolean
  definitions(): Promise<readonly Definition[]>
  values(): Promise<readonly SettingValue[]>
  /** @param within seconds until shared values are put back unless they are kept */
  save(entries: readonly Entry[], within?: number): Promise<SaveOutcome>
  readonly reset: (value: SettingValue) => Promise<SettingValue | undefined>
  /** Writes one value, for preferences. */
  readonly put?: (entry: Entry) => Promise<SettingValue | undefined>
  /** The keys of which the caller has a value of their own, beside the shared one. */
  own?(): Promise<ReadonlySet<string>>
  /** Puts back what a change set replaced, all or nothing, also over these versions by key; returns how many values. */
  revert?(revision: number, force: Versions): Promise<number>
}

/** System and Application values, and the application defaults of User settings: saved all or nothing. */
export function sharedSource(api: SettingsClient): SettingsSource {
  return {
    isOwn: false,
    definitions: () => api.definitions(),
    values: () => api.list(),
    own: async () => new Set((await api.mine()).flatMap((mine) => (mine.isOverridden ? mine.key : []))),
    reset: ({ key, scope, version }) => api.reset(key, scope, { version }),
    revert: async (revision, force) => (await api.revert(revision, { force })).values.length,
    async save(entries, confirmWithin) {
      const keys = entries.map(({ key }) => key)
      try {
        return { keys, saved: (await api.setMany(entries, { confirmWithin })) ?? keys.map(() => undefined) }
      } catch (error) {
        return { keys: [], saved: [], error: toFailure(error) }
      }
    },
  }
}

/** The caller's own values: saved one by one, because the API has no bulk for them. */
export function ownSource(api: SettingsClient): SettingsSource {
  const put = ({ key, value, version }: Entry): Promise<SettingValue | undefined> =>
    api.setMine(key, value, { version })
  return {
    isOwn: true,
    definitions: async () => (await api.definitions()).filter(({ scope }) => scope === SettingScope.User),
    values: () => api.mine(),
    reset: ({ key, version }) => api.resetMine(key, { version }),
    put,
    save: (entries) => saveEach(entries, put),
  }
}

/** Goes on after a value that was refused; stops where the others would fare no better. */
async function saveEach(
  entries: readonly Entry[],
  write: (entry: Entry) => Promise<SettingValue | undefined>,
): Promise<SaveOutcome> {
  const saved: (SettingValue | undefined)[] = []
  const keys: string[] = []
  let refusal: SettingsRequestError | undefined
  for (const entry of entries) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- in order, so that it stops where it must
      saved.push(await write(entry))
      keys.push(entry.key)
    } catch (error) {
      const failure = toFailure(error)
      if (![409, 412, 422].includes(failure.status)) return { saved, keys, error: failure }
      const { status, message: detail, locked } = failure.status === 422 && refusal ? refusal : failure
      const errors = { ...refusal?.errors, ...failure.errors }
      refusal = new SettingsRequestError(status, { detail, errors, locked })
    }
  }
  return { saved, keys, ...(refusal && { error: refusal }) }
}

/** Any other error counts as a request without an answer. */
export function toFailure(error: unknown): SettingsRequestError {
  return error instanceof SettingsRequestError ? error : new SettingsRequestError(0, {}, error)
}

/** Why an action failed, in one sentence: what the server says where it knows better than this page. */
export function failureText(
  { status, message, errors }: SettingsRequestError,
  messages: Messages,
  nameOf: (key: string) => string,
): string {
  if (status === 0) return globalThis.navigator?.onLine === false ? messages.offline : messages.unreachable
  if (status === 401) return messages.signedOut
  if (status >= 500) return messages.serverFailed
  // Members of a request that this page has made wrong say nothing to its reader.
  if (status === 400) return messages.pageFailed
  const details = Object.entries(errors).map(
    ([key, texts]) => `${nameOf(key)}: ${texts.map((text) => splitError(text).text).join(' ')}`,
  )
  return details.join(' ') || message
}

/** Milliseconds after which a request counts as unanswered. */
const timeout = 15_000

/** How a page reaches the API. */
export interface Access extends SettingsClientOptions {
  /** Whether somebody else has signed in since: nothing is read for them, nor written as theirs. */
  isOthers: boolean
}

/**
 * Access with a shorter time-out.
 * @param localeOf returns the language in which definitions are requested; undefined: as the browser says
 */
export function createAccess(baseUrl: string, localeOf: () => string | undefined, request = fetch): Access {
  const access: Access = {
    isOthers: false,
    baseUrl,
    timeout,
    headers() {
      const locale = localeOf()
      return locale ? { 'accept-language': locale } : {}
    },
    async fetch(...sent) {
      const response = access.isOthers ? refused() : await request(...sent)
      // Some gates answer with a login page where a status is due.
      const isPage = /html/.test(response.headers.get('content-type') ?? '')
      return response.ok && isPage ? refused() : response
    },
  }
  return access
}

function refused(): Response {
  return new Response(null, { status: 401 })
}
