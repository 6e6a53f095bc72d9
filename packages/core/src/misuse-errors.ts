/** Mistakes of the developer, most of them found while the application boots. One row each in docs/reference/error-codes.md. */
import createError, { type FastifyError } from '@fastify/error'

const reference = 'https://github.com/fastify-modular/fastify-modular/blob/main/docs/reference/error-codes.md'

/** What a message takes: a text for each `%s`, a number for each `%d`. */
type Arguments<Message> = Message extends `${string}%${infer Kind}${infer Rest}`
  ? [Kind extends 'd' ? number : string, ...Arguments<Rest>]
  : []

/** The class of a misuse error, whose message takes `A`. Its status is 500: no caller did anything wrong. */
export interface MisuseErrorClass<A extends unknown[]> {
  new (...given: A): FastifyError
}

type ErrorCodes<Messages> = { readonly [Code in keyof Messages]: MisuseErrorClass<Arguments<Messages[Code]>> }

/** The classes of misuse errors, by code. A second line of each message is the address of the code's row in the reference. */
export function createErrorCodes<const Messages extends Readonly<Record<string, string>>>(
  messages: Messages,
): ErrorCodes<Messages>
export function createErrorCodes(messages: Readonly<Record<string, string>>): object {
  const classes = Object.entries(messages).map(([code, message]) => [
    code,
    createError(code, `${message}\n${reference}#${code.toLowerCase()}`),
  ])
  return Object.fromEntries(classes)
}

export const errorCodes = createErrorCodes({
  FMOD_CORE_DUPLICATE_MODULE: 'Two modules are named "%s". Give each module a name of its own.',
  FMOD_CORE_INVALID_MODULE: 'The module "%s" is not valid: %s.',
  FMOD_CORE_UNKNOWN_DEPENDENCY:
    'The module "%s" depends on "%s", which is not in the list of modules. Add that module, or name it in optionalDependsOn if the module works without it.',
  FMOD_CORE_DEPENDENCY_CYCLE:
    'The modules depend on each other in a cycle: %s. Remove one of these dependencies.',
  FMOD_CORE_CONTRIBUTION_WITHOUT_PLUGIN:
    'No plugin receives what these modules contribute: %s. Register the plugin named after each hook in the same scope before the modules plugin, correct the spelling of the hook, or list it in ignoreContributions.',
  FMOD_CORE_DUPLICATE_RECEIVER: 'Two plugins receive the module hook "%s". Register its plugin once.',
  FMOD_CORE_RECEIVER_REGISTERED_LATE:
    'The plugin that receives the module hook "%s" is registered after the modules plugin, which has passed on all contributions. Register it before modules.',
  FMOD_CORE_INVALID_EVENT: 'The event "%s" is not valid: %s.',
  FMOD_CORE_DUPLICATE_EVENT_TYPE:
    'Two event classes use the type "%s". The type names the event everywhere: give each class a type of its own.',
  FMOD_CORE_INVALID_HANDLER: 'These event handlers cannot be used: %s.',
  FMOD_CORE_EVENTS_CLOSED:
    'The event "%s" was published after the application closed. Publish before or inside the onClose hooks of modules.',
  FMOD_CORE_TRANSACTION_OPEN:
    'A transaction was open on the connection of sqliteOutbox() for 5 s; its rollback would undo %s. Publish with that transaction as tx, or after its end; keep none open across other requests.',
  FMOD_CORE_TRANSACTION_NOT_SUPPORTED:
    'The event transport "%s" cannot take part in a transaction of kind "%s". Publish after the commit, or use a durable transport on the same database.',
  FMOD_CORE_INVALID_TRANSACTION: 'This is not a transaction to publish in: %s.',
  FMOD_CORE_QUEUE_MISSING:
    'The tables of the event transport "%s" are missing. Run "fastify-modular migrate", or start the application once.',
  FMOD_CORE_PEER_MISSING:
    'This event transport needs the package "%s". Install it beside @fastify-modular/core.',
  FMOD_CORE_TEST_CALLERS_IGNORED:
    'Nothing in this application looks for the callers of injectAs, so the request had no caller. Register @fastify-modular/public-routes in the test as well.',
  FMOD_CORE_ADDED_LATE:
    '%s was added after the application became ready. Add %s, so that it can be reviewed and tested at boot.',
  FMOD_CORE_DECORATOR_MISSING:
    'There is no decorator %s. Register the plugin that adds it first; for injectAs, call enableTestCallers(app).',
  FMOD_CORE_DECORATOR_TAKEN:
    'The decorator %s of the application is not the one of @fastify-modular, which needs this name. Give your own decorator another name.',
  FMOD_CORE_INVALID_OPTION: 'The options of %s cannot be used: %s.',
  FMOD_CORE_REGISTERED_TWICE: 'The %s plugin is registered twice. %s',
})

/** Those that the plugins of all packages raise. */
export const { FMOD_CORE_ADDED_LATE, FMOD_CORE_INVALID_OPTION, FMOD_CORE_REGISTERED_TWICE } = errorCodes
