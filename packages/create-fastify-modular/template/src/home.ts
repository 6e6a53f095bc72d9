/** `GET /`: where to go from here. */
import { hasPermission } from '@fastify-modular/core'
import type { FastifyPluginAsync } from 'fastify'

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
    return reply.type('text/html').send(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>my-app</title>
<style>body { font: 1rem/1.6 system-ui; margin: 4rem auto; max-width: 30rem }</style>
<h1>my-app</h1>
<ul>${links.map((link) => `<li>${link}</li>`).join('')}</ul>
${session}
</html>
`)
  })
}
