/** Mistakes of the developer, found while the application boots. One row each in docs/reference/error-codes.md. */
import { createMisuseError } from './internal/misuse-error.ts'

export const FMOD_CORE_DUPLICATE_MODULE = createMisuseError<[string]>(
  'FMOD_CORE_DUPLICATE_MODULE',
  'Two modules are named "%s". Give each module a name of its own.',
)
export const FMOD_CORE_INVALID_MODULE = createMisuseError<[string, string]>(
  'FMOD_CORE_INVALID_MODULE',
  'The module "%s" is not valid: %s.',
)
export const FMOD_CORE_UNKNOWN_DEPENDENCY = createMisuseError<[string, string]>(
  'FMOD_CORE_UNKNOWN_DEPENDENCY',
  'The module "%s" depends on "%s", which is not in the list of modules. Add that module, or name it in optionalDependsOn if the module works without it.',
)
export const FMOD_CORE_DEPENDENCY_CYCLE = createMisuseError<[string]>(
  'FMOD_CORE_DEPENDENCY_CYCLE',
  'The modules depend on each other in a cycle: %s. Remove one of these dependencies.',
)
export const FMOD_CORE_CONTRIBUTION_WITHOUT_PLUGIN = createMisuseError<[string]>(
  'FMOD_CORE_CONTRIBUTION_WITHOUT_PLUGIN',
  'No plugin receives what these modules contribute: %s. Register the plugin named after each hook in the same scope before the modules plugin, correct the spelling of the hook, or list it in ignoreContributions.',
)
export const FMOD_CORE_DUPLICATE_RECEIVER = createMisuseError<[string]>(
  'FMOD_CORE_DUPLICATE_RECEIVER',
  'Two plugins receive the module hook "%s". Register its plugin once.',
)
export const FMOD_CORE_RECEIVER_REGISTERED_LATE = createMisuseError<[string]>(
  'FMOD_CORE_RECEIVER_REGISTERED_LATE',
  'The plugin that receives the module hook "%s" is registered after the modules plugin, which has passed on all contributions. Register it before modules.',
)
export const FMOD_CORE_INVALID_EVENT = createMisuseError<[string, string]>(
  'FMOD_CORE_INVALID_EVENT',
  'The event "%s" is not valid: %s.',
)
export const FMOD_CORE_DUPLICATE_EVENT_TYPE = createMisuseError<[string]>(
  'FMOD_CORE_DUPLICATE_EVENT_TYPE',
  'Two event classes use the type "%s". The type names the event everywhere: give each class a type of its own.',
)
export const FMOD_CORE_INVALID_HANDLER = createMisuseError<[string]>(
  'FMOD_CORE_INVALID_HANDLER',
  'These event handlers cannot be used: %s.',
)
export const FMOD_CORE_EVENTS_CLOSED = createMisuseError<[string]>(
  'FMOD_CORE_EVENTS_CLOSED',
  'The event "%s" was published after the application closed. Publish before or inside the onClose hooks of modules.',
)
export const FMOD_CORE_TRANSACTION_OPEN = createMisuseError<[string]>(
  'FMOD_CORE_TRANSACTION_OPEN',
  'A transaction was open on the connection of sqliteOutbox() for 5 s; its rollback would undo %s. Publish with that transaction as tx, or after its end; keep none open across other requests.',
)

export const FMOD_CORE_TRANSACTION_NOT_SUPPORTED = createMisuseError<[string, string]>(
  'FMOD_CORE_TRANSACTION_NOT_SUPPORTED',
  'The event transport "%s" cannot take part in a transaction of kind "%s". Publish after the commit, or use a durable transport on the same database.',
)
export const FMOD_CORE_INVALID_TRANSACTION = createMisuseError<[string]>(
  'FMOD_CORE_INVALID_TRANSACTION',
  'This is not a transaction to publish in: %s.',
)
export const FMOD_CORE_QUEUE_MISSING = createMisuseError<[string]>(
  'FMOD_CORE_QUEUE_MISSING',
  'The tables of the event transport "%s" are missing. Run "fastify-modular migrate", or start the application once.',
)
export const FMOD_CORE_PEER_MISSING = createMisuseError<[string]>(
  'FMOD_CORE_PEER_MISSING',
  'This event transport needs the package "%s". Install it beside @fastify-modular/core.',
)
export const FMOD_CORE_TEST_CALLERS_IGNORED = createMisuseError(
  'FMOD_CORE_TEST_CALLERS_IGNORED',
  'Nothing in this application looks for the callers of injectAs, so the request had no caller. Register @fastify-modular/public-routes in the test as well.',
)
