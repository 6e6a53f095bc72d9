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

/** Whose value wins over one that is written to a page: a `user`, or a `tenant`. */
export type OwnSources = ReadonlyMap<string, SettingValue['source']>

export interface SettingsSource {
  /** The caller's own values: each is saved at once. */
  readonly isOwn: boolean
  /** The values of everybody: the administration. */
  readonly isShared: boolean
  definitions(): Promise<readonly Definition[]>
  values(): Promise<readonly SettingValue[]>
  /** @param within seconds until shared values are put back unless they are kept */
  save(entries: readonly Entry[], within?: number): Promise<SaveOutcome>
  readonly reset: (value: SettingValue) => Promise<SettingValue | undefined>
  /** Writes one value, for preferences. */
  readonly put?: (entry: Entry) => Promise<SettingValue | undefined>
  /** Whose value the caller sees in place of the one that is written here, by key. */
  own?(): Promise<OwnSources>
  /** Puts back what a change set replaced, all or nothing, also over these versions by key; returns how many values. */
  revert?(revision: number, force: Versions): Promise<number>
}

/**
 * System and Application values, and the application defaults of other settings: saved all or nothing.
 * @param tenant in which the caller works, where there is one: it may have values of its own
 */
export function sharedSource(
  api: SettingsClient,
  { tenant }: { readonly tenant?: string | undefined } = {},
): SettingsSource {
  return {
    isOwn: false,
    isShared: true,
    definitions: () => api.definitions(),
    values: () => api.list(),
    own: async () =>
      ownSources(await api.mine(tenant === undefined ? {} : { all: true }), ['user', 'tenant']),
    reset: ({ key, scope, version }) => api.reset(key, scope, { version }),
    revert: async (revision, force) => (await api.revert(revision, { force })).values.length,
    save: (entries, confirmWithin) => saveAll(entries, () => api.setMany(entries, { confirmWithin })),
  }
}

/** @param write writes all entries or none */
export async function saveAll(
  entries: readonly Entry[],
  write: () => Promise<readonly SettingValue[] | undefined>,
): Promise<SaveOutcome> {
  const keys = entries.map(({ key }) => key)
  try {
    return { keys, saved: (await write()) ?? keys.map(() => undefined) }
  } catch (error) {
    return { keys: [], saved: [], error: toFailure(error) }
  }
}

/** Of the caller's values those that come from one of these. */
export function ownSources(
  mine: readonly SettingValue[],
  wanted: readonly SettingValue['source'][],
): OwnSources {
  return new Map(mine.flatMap(({ key, source }) => (wanted.includes(source) ? [[key, source]] : [])))
}

/** The caller's own values: saved one by one, because the API has no bulk for them. */
export function ownSource(api: SettingsClient): SettingsSource {
  const put = ({ key, value, version }: Entry): Promise<SettingValue | undefined> =>
    api.setMine(key, value, { version })
  return {
    isOwn: true,
    isShared: false,
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
  { status, message, errors }: Pick<SettingsRequestError, 'status' | 'message' | 'errors'>,
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
  readonly fetch: typeof fetch
  /** Whether somebody else has signed in since: nothing is read for them, nor written as theirs. */
  isOthers: boolean
}

/** The organisation that requests are meant for, where the host's page names it: the server checks it. */
export function tenantHeaders(tenant: string | undefined): Readonly<Record<string, string>> {
  return tenant === undefined ? {} : { 'settings-tenant': tenant }
}

/**
 * Access with a shorter time-out.
 * @param localeOf returns the language in which definitions are requested; undefined: as the browser says
 */
export function createAccess(
  { baseUrl, tenant }: { readonly baseUrl: string; readonly tenant?: string | undefined },
  localeOf: () => string | undefined,
  request = fetch,
): Access {
  const access: Access = {
    isOthers: false,
    baseUrl,
    tenant,
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
