/** Mistakes of the developer. One row each in docs/reference/error-codes.md. */
import { createErrorCodes } from '@fastify-modular/core/internal'

export const errorCodes = createErrorCodes({
  FMOD_INERTIA_MISPLACED_KIND:
    'A kind of prop, such as what defer() returns, is a list item, what a promise or function gave, or within an object that is not plain. Put it among the props or into a plain object in them.',
  FMOD_INERTIA_INVALID_FLASH: 'Nothing can be left for the next page: %s.',
  FMOD_INERTIA_UNSAFE_LOCATION:
    'reply.inertiaLocation was called with something other than an http or https URL or a path. A browser would run or download it: check where the value comes from.',
})
