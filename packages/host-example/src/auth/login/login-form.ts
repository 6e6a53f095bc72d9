/** The sign-in form: what is sent to people, what comes back from them. */
import { isDomainException } from '@fastify-modular/core'
import { safeReturnTo } from '@fastify-modular/public-routes'
import type { FastifyReply } from 'fastify'
import type { Document } from '../../web/document.ts'
import { loginPage, type LoginPage } from './login-page.ts'

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
