/** Mistakes of the developer. One row each in docs/reference/error-codes.md. */
import { createMisuseError } from '@fastify-modular/core/internal'

export const FMOD_INERTIA_INVALID_OPTION = createMisuseError<[string]>(
  'FMOD_INERTIA_INVALID_OPTION',
  'The inertia plugin cannot start: %s.',
)
export const FMOD_INERTIA_REGISTERED_TWICE = createMisuseError(
  'FMOD_INERTIA_REGISTERED_TWICE',
  'The inertia plugin is registered twice, in this scope or in one above. Register it once, before the routes that render pages.',
)
export const FMOD_INERTIA_INVALID_VERSION = createMisuseError(
  'FMOD_INERTIA_INVALID_VERSION',
  'The option version of the inertia plugin travels in a request header: use visible ASCII characters without spaces, such as a hash of the assets.',
)
export const FMOD_INERTIA_MISPLACED_KIND = createMisuseError(
  'FMOD_INERTIA_MISPLACED_KIND',
  'A kind of prop, such as what defer() returns, is a list item, what a promise or function gave, or within an object that is not plain. Put it among the props or into a plain object in them.',
)
export const FMOD_INERTIA_INVALID_FLASH = createMisuseError<[string]>(
  'FMOD_INERTIA_INVALID_FLASH',
  'Nothing can be left for the next page: %s.',
)
export const FMOD_INERTIA_UNSAFE_LOCATION = createMisuseError(
  'FMOD_INERTIA_UNSAFE_LOCATION',
  'reply.inertiaLocation was called with something other than an http or https URL or a path. A browser would run or download it: check where the value comes from.',
)
