/** The scaffold of fastify-cli hands the options of the server, and its own, down to each plugin: none takes one for a misspelt name. */
import type { Server } from 'node:http'
import type { Http2SecureServer } from 'node:http2'
import { events, modules } from '@fastify-modular/core'
import { errors } from '@fastify-modular/errors'
import { inertia } from '@fastify-modular/inertia'
import { publicRoutes } from '@fastify-modular/public-routes'
import { settings } from '@fastify-modular/settings'
import { settingsUi } from '@fastify-modular/settings-ui'
import Fastify, {
  type FastifyHttp2SecureOptions,
  type FastifyHttpOptions,
  type FastifyServerOptions,
} from 'fastify'
import { test } from 'tap'

/** Every option of Fastify's server, and those of other versions: the compiler keeps the list complete. */
type ServerOption =
  | keyof FastifyServerOptions
  | keyof FastifyHttpOptions<Server>
  | keyof FastifyHttp2SecureOptions<Http2SecureServer>

const serverOptions: Readonly<Record<ServerOption, true> & Record<string, true>> = {
  skipOverride: true, // of fastify-cli's test helper
  ajv: true,
  allowErrorHandlerOverride: true,
  allowUnsafeRegex: true,
  bodyLimit: true,
  caseSensitive: true,
  childLoggerFactory: true,
  clientErrorHandler: true,
  connectionTimeout: true,
  constraints: true,
  disableRequestLogging: true,
  exposeHeadRoutes: true,
  forceCloseConnections: true,
  frameworkErrors: true,
  genReqId: true,
  handlerTimeout: true,
  http: true,
  http2: true,
  http2SessionTimeout: true,
  https: true,
  ignoreDuplicateSlashes: true,
  ignoreTrailingSlash: true,
  keepAliveTimeout: true,
  logController: true,
  logger: true,
  loggerInstance: true,
  maxParamLength: true,
  maxRequestsPerSocket: true,
  onConstructorPoisoning: true,
  onProtoPoisoning: true,
  pluginTimeout: true,
  querystringParser: true,
  requestIdHeader: true,
  requestIdLogLabel: true,
  requestTimeout: true,
  return503OnClosing: true,
  rewriteUrl: true,
  routerOptions: true,
  schemaController: true,
  schemaErrorFormatter: true,
  serializerOpts: true,
  serverFactory: true,
  trustProxy: true,
  useSemicolonDelimiter: true,
}

test('every plugin ignores the options of the server', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(errors, serverOptions as object)
  await app.register(publicRoutes, { ...serverOptions, provider: { authenticate: () => null } })
  await app.register(inertia, serverOptions as object)
  await app.register(events, serverOptions as object)
  await app.register(settings, serverOptions as object)
  await app.register(settingsUi, serverOptions as object)
  await app.register(modules, { ...serverOptions, modules: [] })
  await app.ready()
  t.equal((await app.inject('/nowhere')).statusCode, 401)
})
