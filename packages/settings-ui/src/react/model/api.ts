/** The HTTP API of settings as the pages use it: the client of `@fastify-modular/settings`, with less patience. */
import { createSettingsClient, type SettingsClient } from '@fastify-modular/settings/client'

/** What a host says about requests, at the moment of each. */
export interface RequestOptions {
  readonly fetch?: typeof globalThis.fetch
  /** The language in which definitions are asked for. @default as the browser says */
  readonly locale?: string
}

/** Milliseconds after which a request counts as unanswered. */
const timeout = 15_000

/** @param baseUrl where the API is, relative to the page or absolute */
export function createApi(baseUrl: string, options: () => RequestOptions): SettingsClient {
  return createSettingsClient({
    baseUrl,
    timeout,
    headers() {
      const { locale } = options()
      return locale ? { 'accept-language': locale } : {}
    },
    async fetch(...request) {
      const { fetch = globalThis.fetch } = options()
      const response = await fetch(...request)
      // Some gates answer with a login page where a status is due.
      const isPage = /html/.test(response.headers.get('content-type') ?? '')
      return response.ok && isPage ? new Response(null, { status: 401 }) : response
    },
  })
}
