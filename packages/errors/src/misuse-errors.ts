/** Mistakes of the developer. One row each in docs/reference/error-codes.md. */
import { createErrorCodes } from '@fastify-modular/core/internal'

export const errorCodes = createErrorCodes({
  FMOD_ERRORS_HANDLER_TAKEN:
    '%s is called in the scope of the errors plugin, which sets that handler itself, and one scope can have only one. Remove the call, move it into %s, or register errors with %s: false.',
  FMOD_ERRORS_REGISTERED_LATE:
    'These routes were registered before the errors plugin, so Fastify itself would answer their failures, with the messages of unexpected errors: %s. Register errors first.',
  FMOD_ERRORS_INVALID_MAPPING: 'app.problems.map needs %s, not a value of type %s.',
  FMOD_ERRORS_INVALID_RESPONSE:
    'problemResponses takes statuses from 400 to 599 and classes made by defineProblem, not %s.',
})
