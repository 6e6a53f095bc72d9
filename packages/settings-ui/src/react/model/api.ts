/** The HTTP API of settings as the pages use it: the client of `@fastify-modular/settings`, with less patience. */
import { createSettingsClient, type SettingsClient } from '@fastify-modular/settings/client'

type Fetch = typeof globalThis.fetch

/** Milliseconds after which a request counts as unanswered. */
const timeout = 15_000

/**
 * @param baseUrl where the API is, relative to the page or absolute
 * @param locale returns the language in which definitions are asked for; undefined for the browser's
 */
export function createApi(baseUrl: string, fetch: Fetch, locale: () => string | undefined): SettingsClient {
  const headers = (): Record<string, string> => {
    const language = locale()
    return language ? { 'accept-language': language } : {}
  }
  return createSettingsClient({ baseUrl, timeout, headers, fetch: detectLogin(fetch) })
}

/** Some gates answer with a login page where a status is due. */
function detectLogin(fetch: Fetch): Fetch {
  return async function fetchSignedIn(...request) {
    const response = await fetch(...request)
    const isPage = /html/.test(response.headers.get('content-type') ?? '')
    return response.ok && isPage ? new Response(null, { status: 401 }) : response
  }
}
