import { unknownMembers, unknownOptions } from '@fastify-modular/core'
import type { FastifyHttp2SecureOptions, FastifyHttpOptions, FastifyServerOptions } from 'fastify'
import type { Http2SecureServer } from 'node:http2'
import type { Server } from 'node:http'
import { test } from 'tap'

/** Every option of Fastify's server: the compiler keeps the list complete. */
type ServerOption =
  | keyof FastifyServerOptions
  | keyof FastifyHttpOptions<Server>
  | keyof FastifyHttp2SecureOptions<Http2SecureServer>

const serverOptions: Readonly<Record<ServerOption, true>> = {
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

test('a plugin learns which of its options are misspelt; those of register belong to Fastify', async (t) => {
  const known = { provider: true, timeout: true }
  t.same(unknownOptions({ provider: {}, timeout: 1, prefix: '/x', logLevel: 'info' }, known), [])
  t.same(unknownOptions({ provider: {}, timout: 1, toString: 1 }, known), ['timout', 'toString'])
})

test('options of the server that a scaffold passes to its plugins are not misspelt', async (t) => {
  const handedDown = { ...serverOptions, crossorigin: true }
  t.same(unknownOptions(handedDown, { crossOrigin: true }), ['crossorigin'])
})

test('an object within options has its own members only: no scaffold passes others to it', async (t) => {
  t.same(unknownMembers({ exempt: [], logger: true, prefix: '/' }, { exempt: true }), ['logger', 'prefix'])
})
