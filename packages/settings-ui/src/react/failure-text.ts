/** Why an action failed, in words. */
import type { SettingsRequestError } from '@fastify-modular/settings/client'
import { format, type Messages } from '../texts/messages.ts'

/** Why an action failed, and what to do about it. */
export function failureText(failure: SettingsRequestError, messages: Messages): string {
  const { status, message, errors, requestId } = failure
  if (status === 0) return messages.unreachable
  if (status === 401) return messages.signedOut
  if (status === 403) return messages.forbidden
  if (status >= 500) {
    return messages.serverFailed + (requestId ? ` ${format(messages.requestId, { id: requestId })}` : '')
  }
  const details = Object.entries(errors).map(([key, texts]) => `${key}: ${texts.join(' ')}`)
  return format(messages.refused, { detail: details.join(' ') || message })
}
