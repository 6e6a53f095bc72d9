/** A page of a host that has no front-end tooling: its own style sheet and script, and elements of ours under a strict policy. */
import type { Module } from '@fastify-modular/core'
import { follow, type Visit } from './visit.js'

/** What the guide asks of a host's policy, and nothing more. */
export const plainPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

/** Styles that would show if they came through. */
const css = `
  body { margin: 0; font: italic 22px serif; letter-spacing: 0.2em; text-transform: uppercase; }
  button, input { border-radius: 0; background: #fee; }
  .is-dark { color-scheme: dark; }
  fm-settings.is-branded::part(heading), fm-settings.is-branded::part(row) { color: rgb(1, 2, 3); }
  header { position: sticky; top: 0; z-index: 1; padding: 1rem; background: #eee; }`

/** Notes down the events of the elements in the body. */
const script = `
  for (const type of ['fm-saved', 'fm-dirty'])
    document.addEventListener(type, ({ target, detail }) => {
      const { events = '' } = document.body.dataset
      document.body.dataset.events = events + [target.id, type, detail?.isDirty ?? detail?.keys ?? ''].join(' ').trim() + '; '
    })`

/** Serves `/plain?body=…`, whose body is in the address: each test has a page of its own. */
export const plainHost: Module = {
  name: 'plain-host',
  plugin: async (app) => {
    const config = { access: 'public' }
    app.get('/plain.css', { config }, (_request, reply) => reply.type('text/css').send(css))
    app.get('/plain.js', { config }, (_request, reply) => reply.type('text/javascript').send(script))
    app.get<{ Querystring: { body: string } }>('/plain', { config }, (request, reply) =>
      reply.header('content-security-policy', plainPolicy).type('text/html').send(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Plain host</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/plain.css">
<script type="module" src="/plain.js"></script>
<script type="module" src="/settings/assets/element.js"></script>
</head>
<body>
<header><label>Own field <input id="own"></label></header>
<main>${request.query.body}</main>
</body>
</html>`),
    )
  },
}

/** The address of a page with this body. */
export const plainPath = (body: string): string => `/plain?${new URLSearchParams({ body }).toString()}`

/** Signs in, opens a page with this body, and waits until its elements show their settings and follow what others save. */
export async function openPlain({ page, open, url }: Visit, body: string, hash = ''): Promise<void> {
  await open('/settings/preferences') // everything is as it was at first, and the caller has a session
  await follow(page, () => page.goto(url + plainPath(body) + hash))
  const elements = page.locator('fm-settings')
  for (let index = (await elements.count()) - 1; index >= 0; index--)
    await elements.nth(index).locator('[data-key]').first().waitFor()
}
