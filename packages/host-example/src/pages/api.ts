/** Calls of this application's own HTTP API. */
import type { Texts } from '../texts/en.ts'

/** A request that was refused, or that did not arrive: then its status is 0. */
class ApiError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.name = 'ApiError'
    this.status = status
  }
}

/**
 * Sends a request and returns the body of its answer, null where it has none. Signs in again where the session ended.
 * @throws {ApiError} the request was refused or did not arrive
 */
export async function callApi(method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(path, {
    method,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  }).catch(() => {
    throw new ApiError(0, '')
  })
  if (response.status === 401) {
    window.location.assign(`/login?returnTo=${encodeURIComponent(window.location.pathname)}`)
  }
  const content: unknown = response.status === 204 ? null : await response.json().catch(() => null)
  if (!response.ok) throw new ApiError(response.status, detailOf(content))
  return content
}

/** The text of problem details (RFC 9457), field errors included. */
function detailOf(problem: unknown): string {
  const { detail, errors } = { ...(problem as { detail?: unknown; errors?: unknown } | null) }
  const fields = typeof errors === 'object' && errors !== null ? Object.entries(errors) : []
  if (fields.length > 0) return fields.map(([field, messages]) => `${field} ${String(messages)}`).join('. ')
  return typeof detail === 'string' ? detail : ''
}

/** What went wrong, in words for people. */
export function wordsOf(failure: unknown, texts: Texts): string {
  if (!(failure instanceof ApiError)) return texts.failed
  return failure.status === 0 ? texts.unreachable : failure.message || texts.failed
}
