/** How the API describes itself: `/openapi.json`, and Swagger UI at `/api/docs` to browse it. */
import { readFileSync } from 'node:fs'
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { accessTransform } from '@fastify-modular/public-routes'
import type { FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { policy } from './security-headers.ts'

const description: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Fastify Modular example',
      description: 'Notes, settings and sessions of the example application. [Back to the application](/)',
      version: '1.0.0',
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'Fastify Modular', url: 'https://github.com/fastify-modular/fastify-modular' },
    },
    servers: [{ url: '/' }],
    tags: [
      { name: 'notes', description: 'Notes, and the links that share them' },
      { name: 'settings', description: 'What administrators and users may change, and its history' },
      { name: 'session', description: 'Signing in and out' },
      { name: 'mail', description: 'What the application has sent' },
      { name: 'events', description: 'Events that no handler could take' },
      { name: 'faults', description: 'Failures on request' },
    ],
  },
  refResolver: {
    // Shared schemas keep their names, for people and for generated clients.
    buildLocalReference: ({ $id }) => String($id),
  },
}

/** `style`: the file with the colours of the house. Replies need `sendFile`. */
const apiDocsPlugin: FastifyPluginAsync<{ readonly style: string }> = async (app, { style }) => {
  // The plugin would read its 1.7 MB as they are, to be compressed for each visitor: the build has copies that are compressed.
  app.addHook('onRoute', (route) => {
    if (route.url !== '/api/docs/static/*') return
    route.handler = ({ params }, reply) => {
      const { '*': file } = params as { '*': string } // as the route has it
      return reply.sendFile(`swagger-ui/${file}`, { immutable: false, maxAge: '1h' })
    }
  })
  await app.register(swagger, {
    ...description,
    transformObject: (document) => describeCallers(accessTransform(app)(document)),
  })
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger())
  await app.register(swaggerUi, {
    routePrefix: '/api/docs',
    staticCSP: policy, // its own would allow frames, other hosts, and styles within the page
    uiConfig: { layout: 'BaseLayout' },
    theme: { title: 'API', css: [{ filename: 'house.css', content: readFileSync(style, 'utf8') }] },
  })
}

/** Says in words, too, who may call each operation. */
function describeCallers<Document extends { readonly paths?: object }>(document: Document): Document {
  for (const item of Object.values(document.paths ?? {})) {
    for (const operation of Object.values(item as object) as Operation[]) {
      const { security = [], 'x-permission': permission, description = '' } = operation
      const isClosed =
        permission === undefined ? 'For callers who are signed in.' : `For callers with ${permission}.`
      operation.description = `${security.length === 0 ? 'For everybody.' : isClosed} ${description}`.trim()
    }
  }
  return document
}

interface Operation {
  readonly security?: readonly object[]
  readonly 'x-permission'?: string
  description?: string
}

/** Register it before the routes that it is to describe. */
export const apiDocs = fp(apiDocsPlugin, { name: 'api-docs' })
