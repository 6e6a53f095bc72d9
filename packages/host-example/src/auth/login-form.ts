/** The sign-in form: plain HTML, so that it works without JavaScript, and what comes back from it. */
import { isDomainException } from '@fastify-modular/core'
import { safeReturnTo } from '@fastify-modular/public-routes'
import type { FastifyReply } from 'fastify'
import { type Document, escapeHtml } from '../web/document.ts'

/** How a failure is answered in HTML. */
export interface FormFailure {
  readonly status: number
  readonly message: string
  readonly headers: Readonly<Record<string, string>>
}

/** A function that sends the form. */
export function createFormSender(
  document: Document,
  isDemo: boolean,
): (reply: FastifyReply, page: Omit<LoginPage, 'isDemo'> & { readonly status?: number }) => FastifyReply {
  return (reply, { status = 200, ...page }) =>
    reply
      .code(status)
      .header('cache-control', 'no-store')
      .type('text/html; charset=utf-8')
      .send(document({ title: 'Sign in', body: loginPage({ ...page, isDemo }) }))
}

/** What a form held that may be invalid: enough to show it again. `returnTo` never leads to another site. */
export function readForm(body: unknown): { username: string; returnTo: string } {
  const { username, returnTo } = { ...(typeof body === 'object' ? body : null) } as Record<string, unknown>
  return {
    username: typeof username === 'string' ? username.slice(0, 100) : '',
    returnTo: safeReturnTo(returnTo) ?? '/',
  }
}

/** What the form says of a failure that a person can do something about; any other is thrown again. */
export function forPeople(error: unknown): FormFailure {
  if (isDomainException(error) && error.statusCode < 500) {
    const retryAfter = error.headers?.['retry-after']
    return {
      status: error.statusCode,
      message: error.message,
      headers: retryAfter ? { 'retry-after': retryAfter } : {},
    }
  }
  if (error instanceof Error && 'validation' in error) {
    return { status: 400, message: 'Enter your user name and your password.', headers: {} }
  }
  throw error
}

interface LoginPage {
  /** What went wrong, shown above the form. */
  readonly error?: string
  readonly username?: string
  readonly returnTo: string
  /** Shows the demo accounts. */
  readonly isDemo: boolean
}

/** The content of `<body>`. */
function loginPage({ error, username = '', returnTo, isDemo }: LoginPage): string {
  const invalid = error ? ' aria-invalid="true" aria-describedby="login-error"' : ''
  return `
<main class="card login" id="main">
  <h1>Sign in</h1>
  ${error ? `<p class="alert" id="login-error" role="alert">${escapeHtml(error)}</p>` : ''}
  <form method="post" action="/login">
    <input type="hidden" name="returnTo" value="${escapeHtml(returnTo)}">
    <label for="username">User name</label>
    <input id="username" name="username" value="${escapeHtml(username)}" required maxlength="100"
      autocomplete="username" autocapitalize="none" spellcheck="false"${invalid}${error ? '' : ' autofocus'}>
    <label for="password">Password</label>
    <input id="password" name="password" type="password" required maxlength="200"
      autocomplete="current-password"${invalid}${error ? ' autofocus' : ''}>
    <button type="submit" class="primary">Sign in</button>
  </form>
  ${isDemo ? demoHint : ''}
  <p><a href="/">Back to the home page</a></p>
</main>`
}

const demoHint = `
  <p class="muted">This is a demonstration. The accounts are <code>admin</code>, <code>editor</code>,
  <code>alice</code> and <code>bob</code>; the password of each is <code>demo-</code> and its name.</p>`
