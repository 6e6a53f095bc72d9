/** How the API describes itself. */
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'

export const openapi: FastifyDynamicSwaggerOptions = {
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
  // Shared schemas keep their names, for people and for generated clients.
  refResolver: {
    buildLocalReference: ({ $id }, _baseUri, _fragment, index) => String($id ?? `schema-${index}`),
  },
}
