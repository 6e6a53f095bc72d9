/** Why an action failed, in words. */
import type { SettingsRequestError } from '@fastify-modular/settings/client'
import type { Messages } from '../../texts/messages.ts'
import { splitError } from './setting.ts'

/** Names settings by their keys. */
export type NameOf = (key: string) => string

/** One sentence: what the server says where it knows better than this page. */
export function failureText(
  { status, message, errors }: SettingsRequestError,
  messages: Messages,
  nameOf: NameOf = (key) => key,
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

/** Whether the failure is one to look up in the server's log. */
export function hasReference({ status, requestId }: SettingsRequestError): boolean {
  return requestId !== null && (status === 400 || status >= 500)
}
