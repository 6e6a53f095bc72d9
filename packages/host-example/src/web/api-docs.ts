/** How the API describes itself: `/openapi.json`, and `/api/docs` to browse it. */
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { createSharedProps } from './shared-props.ts'
import { apiPage } from './api-page.ts'
import type { Document } from './document.ts'
import { html } from './html.ts'
import { type ApiDocument, readApi } from './openapi.ts'
import { siteHeader } from './site-header.ts'

interface ApiDocsOptions {
  readonly document: Document
  /** The address of the script that adds search and requests. */
  readonly script: string
  /** Our own page, or Swagger UI. */
  readonly browser: 'own' | 'swagger-ui'
}

const description: FastifyDynamicSwaggerOptions = {
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
const swaggerUiPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const apiDocsPlugin: FastifyPluginAsync<ApiDocsOptions> = async (app, { document, script, browser }) => {
  await app.register(swagger, description)
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger())
  if (browser === 'swagger-ui') {
    await app.register(swaggerUi, { routePrefix: '/api/docs', staticCSP: swaggerUiPolicy })
    return
  }
  const share = createSharedProps(app)
  let content: ReturnType<typeof apiPage> | undefined // every route is known once the application is ready
  app.get('/api/docs', { schema: { hide: true } }, async (request, reply) => {
    const shared = await share(request)
    content ??= apiPage(readApi(app.swagger() as ApiDocument))
    const { theme, density, primaryColor, title } = shared.app
    return reply.type('text/html; charset=utf-8').send(
      document({
        title: `API · ${title}`,
        body: html`${siteHeader(shared, '/api/docs')}${content}`,
        look: { theme, density, primaryColor, language: 'en' }, // the descriptions are English
        scripts: [script],
      }),
    )
  })
}

/** Register it before the routes that it is to describe, and after the gate, which adds who may call them. */
export const apiDocs = fp(apiDocsPlugin, { name: 'api-docs' })
