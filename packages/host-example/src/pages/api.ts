/** Calls of this application's own HTTP API. */
import { readProblem } from '@fastify-modular/errors/client'
import type { Texts } from '../texts/texts.ts'

/**
 * Sends a request, and signs in again where the session ended. Returns null when it was done, and else what went wrong, in
 * words for people.
 */
export async function callApi(
  texts: Texts,
  method: string,
  path: string,
  body?: unknown,
): Promise<string | null> {
  const sent = body === undefined ? {} : { headers: { 'content-type': 'application/json' } }
  const response = await fetch(path, { method, body: JSON.stringify(body), ...sent }).catch(() => null)
  if (response === null) return texts.unreachable
  if (response.status === 401)
    window.location.assign(`/login?returnTo=${encodeURIComponent(window.location.pathname)}`)
  const problem = await readProblem(response)
  if (problem === null) return null
  const fields = 'errors' in problem ? Object.values(problem.errors).flat() : []
  return fields.join(' ') || problem.detail || texts.failed
}
