/** How the API describes itself: `/openapi.json`, and `/api/docs` to browse it. */
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'

const document: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Fastify Modular example',
      description: 'Notes, settings and sessions of the example application.',
      version: '1.0.0',
    },
  },
  refResolver: {
    // Shared schemas keep their names, for people and for generated clients.
    buildLocalReference: ({ $id }, _baseUri, _fragment, index) => String($id ?? `schema-${index}`),
  },
}

/** The plugin's own policy would allow frames and other hosts. Swagger UI sets styles while it runs. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const apiDocsPlugin: FastifyPluginAsync = async (app) => {
  await app.register(swagger, document)
  await app.register(swaggerUi, {
    routePrefix: '/api/docs',
    staticCSP: policy,
  })
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger())
}

/** Register it before the routes that it is to describe, and after the gate, which adds who may call them. */
export const apiDocs = fp(apiDocsPlugin, { name: 'api-docs' })
