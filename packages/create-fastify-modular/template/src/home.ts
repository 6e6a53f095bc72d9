/** `GET /`: where to go from here. */
import { hasPermission } from '@fastify-modular/core'
import type { FastifyPluginAsync } from 'fastify'
import { page } from './page.ts'

export const home: FastifyPluginAsync = async (app) => {
  app.get('/', { config: { access: 'public' } }, async ({ caller }, reply) => {
    const links = [
      '<a href="/api/notes">Notes</a>, which everybody may read',
      '<a href="/settings/preferences">Your preferences</a>',
      ...(hasPermission(caller, 'Settings.Update') ? ['<a href="/settings/manage">Settings</a>'] : []),
    ]
    const session =
      caller === null
        ? '<a href="/login">Sign in</a>'
        : '<form method="post" action="/logout"><button>Sign out</button></form>'
    const list = links.map((link) => `<li>${link}</li>`).join('')
    return reply.type('text/html').send(page('my-app', `<h1>my-app</h1><ul>${list}</ul>${session}`))
  })
}
