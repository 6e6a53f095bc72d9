/** Mistakes of the developer, found while the application boots. One row each in docs/reference/error-codes.md. */
import { createErrorCodes } from '@fastify-modular/core/internal'

export const errorCodes = createErrorCodes({
  FMOD_SETTINGS_UI_UNGUARDED:
    'Nothing guards the settings pages. Register the gate of @fastify-modular/public-routes, pass an onRequest hook as the option guard, or set guard: false when something in front of this application does it.',
  FMOD_SETTINGS_UI_CALLER_UNKNOWN:
    'The settings pages cannot identify the caller, so they would be read-only for everybody. Register the gate of @fastify-modular/public-routes, or pass the same option findCaller as to the settings plugin.',
  FMOD_SETTINGS_UI_API_MISSING:
    'The settings pages talk to an HTTP API at %s, and there is none. Register the plugin of @fastify-modular/settings with its routes, or set the option baseUrl to where they are.',
  FMOD_SETTINGS_UI_NOT_BUILT: 'The built pages are missing (%s). Build the package, or install it again.',
})
