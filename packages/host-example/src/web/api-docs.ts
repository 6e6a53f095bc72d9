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
    components: {
      securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'session' } },
    },
    security: [{ session: [] }],
  },
  refResolver: {
    // Shared schemas keep their names, for people and for generated clients.
    buildLocalReference: ({ $id }, _baseUri, _fragment, index) => String($id ?? `schema-${index}`),
  },
}

const apiDocsPlugin: FastifyPluginAsync = async (app) => {
  await app.register(swagger, document)
  await app.register(swaggerUi, {
    routePrefix: '/api/docs',
    staticCSP: true,
    // Swagger UI sets styles while it runs; scripts stay restricted.
    transformStaticCSP: (policy) => policy.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'"),
  })
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger())
}

/** Register it before the routes that it is to describe. */
export const apiDocs = fp(apiDocsPlugin, { name: 'api-docs' })
