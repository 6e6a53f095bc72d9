/** How the API describes itself: `/openapi.json`, of which `/api/docs` makes a page. */
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { accessTransform } from '@fastify-modular/public-routes'
import type { FastifyInstance } from 'fastify'

const description: FastifyDynamicSwaggerOptions = {
  hideUntagged: true, // pages
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Fastify Modular example',
      description: 'Notes, settings and sessions of the example application.',
      version: '1.0.0',
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'Fastify Modular', url: 'https://github.com/fastify-modular/fastify-modular' },
    },
    servers: [{ url: '/' }],
    tags: [
      { name: 'notes', description: 'Notes, and the links that share them' },
      { name: 'settings', description: 'What administrators and users may change, and its history' },
      { name: 'mail', description: 'What the application has sent' },
    ],
  },
  refResolver: {
    // Shared schemas keep their names, for people and for generated clients.
    buildLocalReference: ({ $id }) => String($id),
  },
}

/** Call it before the routes that it is to describe. */
export async function addApiDocs(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    ...description,
    transformObject: (document) => describeCallers(accessTransform(app)(document)),
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
