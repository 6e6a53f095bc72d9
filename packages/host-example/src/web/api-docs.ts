/** How the API describes itself: `/openapi.json`, and Swagger UI at `/api/docs` to browse it. */
import { readFileSync } from 'node:fs'
import { accessTransform } from '@fastify-modular/public-routes'
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'

const description: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Fastify Modular example',
      description: 'Notes, settings and sessions of the example application. [Back to the application](/)',
      version: '1.0.0',
    },
  },
  refResolver: {
    // Shared schemas keep their names, for people and for generated clients.
    buildLocalReference: ({ $id }, _baseUri, _fragment, index) => String($id ?? `schema-${index}`),
  },
}

/** The plugin's own policy would allow frames, other hosts, and styles within the page. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** `style`: the file with the colours of the house. */
const apiDocsPlugin: FastifyPluginAsync<{ readonly style: string }> = async (app, { style }) => {
  await app.register(swagger, { ...description, transformObject: accessTransform(app) })
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger())
  await app.register(swaggerUi, {
    routePrefix: '/api/docs',
    staticCSP: policy,
    uiConfig: { layout: 'BaseLayout' },
    theme: { title: 'API', css: [{ filename: 'house.css', content: readFileSync(style, 'utf8') }] },
  })
}

/** Register it before the routes that it is to describe. */
export const apiDocs = fp(apiDocsPlugin, { name: 'api-docs' })
