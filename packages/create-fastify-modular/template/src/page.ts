/** What every page of this application shares: the document around it, and headers that tell browsers to be careful. */
import { createHash } from 'node:crypto'
import type { FastifyReply, onSendHookHandler } from 'fastify'
import type { SignInForm } from './sign-in.ts'

const style = `body { font: 1rem/1.6 system-ui; margin: 4rem auto; padding: 0 1rem; max-width: 30rem }
input, button { display: block; font: inherit; width: 100%; box-sizing: border-box; margin-bottom: 1rem; padding: .4rem }`

/** A whole document. `title` and `body` are HTML: escape in them what others have written. */
export function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${style}</style>
${body}
</html>
`
}

/** The page with the form to sign in. */
export function signInPage(reply: FastifyReply, { returnTo, isRefused }: SignInForm): FastifyReply {
  const problem = isRefused ? 'The user or the password is wrong.' : ''
  const body = `<h1>Sign in</h1>
<p role="alert">${problem}</p>
<form method="post" action="/login?returnTo=${encodeURIComponent(returnTo)}">
  <label>User <input name="user" autocomplete="username" required autofocus></label>
  <label>Password <input name="password" type="password" autocomplete="current-password" required></label>
  <button>Sign in</button>
</form>`
  return reply.type('text/html').send(page('Sign in', body))
}

const headers = {
  'cache-control': 'no-store',
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    'img-src data:',
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}

/** An onSend hook. Routes and plugins keep headers of their own, like the policy of the settings pages. */
export const securityHeaders: onSendHookHandler = (_request, reply, payload, done) => {
  for (const [name, value] of Object.entries(headers)) if (!reply.hasHeader(name)) reply.header(name, value)
  done(null, payload)
}
