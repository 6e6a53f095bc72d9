/** Options that a plugin does not have: a misspelt one would be ignored silently, and its protection with it. */

/** The options of `register` that Fastify itself reads. */
const ofRegister = ['prefix', 'logLevel', 'logSerializers']

/** The options of a server. The scaffold of fastify-cli passes all of them to each of its plugins. */
const ofServer = [
  'ajv',
  'allowErrorHandlerOverride',
  'allowUnsafeRegex',
  'bodyLimit',
  'caseSensitive',
  'childLoggerFactory',
  'clientErrorHandler',
  'connectionTimeout',
  'constraints',
  'disableRequestLogging',
  'exposeHeadRoutes',
  'forceCloseConnections',
  'frameworkErrors',
  'genReqId',
  'handlerTimeout',
  'http',
  'http2',
  'http2SessionTimeout',
  'https',
  'ignoreDuplicateSlashes',
  'ignoreTrailingSlash',
  'keepAliveTimeout',
  'logController',
  'logger',
  'loggerInstance',
  'maxParamLength',
  'maxRequestsPerSocket',
  'onConstructorPoisoning',
  'onProtoPoisoning',
  'pluginTimeout',
  'querystringParser',
  'requestIdHeader',
  'requestIdLogLabel',
  'requestTimeout',
  'return503OnClosing',
  'rewriteUrl',
  'routerOptions',
  'schemaController',
  'schemaErrorFormatter',
  'serializerOpts',
  'serverFactory',
  'trustProxy',
  'useSemicolonDelimiter',
]

/** Options that Fastify reads: a plugin that gets one of them ignores it. */
export const readByFastify: ReadonlySet<string> = new Set([...ofRegister, ...ofServer])

/**
 * The names of options that the plugin does not know, for its error at boot; what Fastify reads is left out.
 * `known` has a member for each option of the plugin; make it a `Record<keyof Options, …>`, and the compiler keeps it complete.
 */
export function unknownOptions(options: object, known: Readonly<Record<string, unknown>>): string[] {
  return unknownMembers(options, known).filter((name) => !readByFastify.has(name))
}

/** Like `unknownOptions`, for an object within options, which never gets options of Fastify. */
export function unknownMembers(object: object, known: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(object).filter((name) => !Object.hasOwn(known, name))
}
