/** Swagger UI in the colours of the house, loaded with its page alone. */
import type * as ReactOfSwagger from 'react'
// oxlint-disable-next-line import/no-unassigned-import -- styles
import '@fastify/swagger-ui/static/swagger-ui.css'
// oxlint-disable-next-line import/no-unassigned-import -- styles
import './swagger-ui.css'
// @ts-expect-error -- it has no types
import SwaggerUI from '@fastify/swagger-ui/static/swagger-ui-bundle.js'

/** What plugins of Swagger UI get, as far as it is used here. */
interface System {
  readonly React: typeof ReactOfSwagger
  getComponent(name: string, isConnected: boolean): ReactOfSwagger.ComponentType
}

/** The operations and what they exchange. The page around them has the title, and a `<main>` of its own. */
function withPlainLayout({ React, getComponent }: System) {
  const Plain = () =>
    React.createElement(
      'div',
      { className: 'swagger-ui' },
      ['operations', 'Models'].map((name) => React.createElement(getComponent(name, true), { key: name })),
    )
  return { components: { Plain } }
}

/** Shows the document of the API in this element. */
export function showApi(domNode: Element): void {
  SwaggerUI({
    domNode,
    url: '/openapi.json',
    docExpansion: 'none',
    syntaxHighlight: false, // its colours are hard to read
    layout: 'Plain',
    plugins: [withPlainLayout],
  })
}
