/** The sign-in form: plain HTML, so that it works without JavaScript, and what comes back from it. */
import { isDomainException } from '@fastify-modular/core'
import { safeReturnTo } from '@fastify-modular/public-routes'
import type { FastifyReply } from 'fastify'
import { format, type Texts, textsOf } from '../texts/texts.ts'
import type { Document } from '../web/document.ts'
import { type Html, html } from '../web/html.ts'
import type { Look } from '../web/look.ts'
import { initials, logo, notices } from '../web/site-header.ts'
import { demoAccounts } from './accounts.ts'

/** How a failure is answered in HTML. */
export interface FormFailure {
  readonly status: number
  readonly message: string
  readonly headers: Readonly<Record<string, string>>
}

/** What the page shows. */
export interface LoginPage {
  readonly look: Look
  /** A form for a new account instead of one for a session. */
  readonly isNew?: boolean
  /** What went wrong, shown above the form. */
  readonly error?: string
  readonly status?: number
  readonly username?: string
  readonly returnTo: string
}

/** A function that sends the form; `isDemo` shows the demo accounts. */
export function createFormSender({
  document,
  isDemo,
}: {
  readonly document: Document
  readonly isDemo: boolean
}): (reply: FastifyReply, page: LoginPage) => FastifyReply {
  return (reply, page) => {
    const texts = textsOf(page.look.language)
    const title = format(page.isNew ? texts.joinTitle : texts.signInTo, { title: page.look.title })
    const body = loginPage({ ...page, texts, title, isDemo })
    return reply
      .code(page.status ?? 200)
      .header('cache-control', 'no-store')
      .type('text/html; charset=utf-8')
      .send(document({ title, body, look: page.look }))
  }
}

/** What a form held that may be invalid: enough to show it again. `returnTo` never leads to another site. */
export function readForm(body: unknown): { username: string; returnTo: string } {
  const { username, returnTo } = { ...(typeof body === 'object' ? body : null) } as Record<string, unknown>
  return {
    username: typeof username === 'string' ? username.slice(0, 100) : '',
    returnTo: safeReturnTo(returnTo) ?? '/',
  }
}

/** The account that a form names: names are lower case. */
export function accountIn(body: unknown): string {
  return readForm(body).username.trim().toLowerCase()
}

/** What the form says of a failure that a person can do something about; any other is thrown again. */
export function forPeople(error: unknown, hint: string): FormFailure {
  if (isDomainException(error) && (error.statusCode < 500 || error.statusCode === 503)) {
    const retryAfter = error.headers?.['retry-after']
    return {
      status: error.statusCode,
      message: error.message,
      headers: retryAfter ? { 'retry-after': retryAfter } : {},
    }
  }
  if (error instanceof Error && 'validation' in error) return { status: 400, message: hint, headers: {} }
  throw error
}

interface LoginParts extends LoginPage {
  readonly texts: Texts
  readonly title: string
  readonly isDemo: boolean
}

/** The content of `<body>`. */
function loginPage(page: LoginParts): Html {
  const { texts, title, look, isNew = false, isDemo, returnTo } = page
  const query = returnTo === '/' ? '' : `?returnTo=${encodeURIComponent(returnTo)}`
  const other = isNew
    ? html`${texts.haveAccount} <a href="/login${query}">${texts.signIn}</a> · `
    : look.isRegistrationOpen &&
      html`${texts.newHere} <a href="/register${query}">${texts.createAccount}</a> · `
  return html`${notices({ app: look, user: null })}
    <main class="login" id="main">
      <div class="login-brand">
        ${logo(look.logo)}
        <h1>${title}</h1>
        <p class="small">${texts.pitch}</p>
      </div>
      ${credentialsForm(page)} ${isDemo && !isNew && demoForm(texts, returnTo)}
      <p class="small center">${other}<a href="/">${texts.backHome}</a></p>
    </main>`
}

function credentialsForm({ texts, isNew = false, error, username = '', returnTo }: LoginParts): Html {
  const invalid = error !== undefined && html` aria-invalid="true" aria-describedby="login-error"`
  const action = isNew ? '/register' : '/login'
  const name = isNew
    ? html` minlength="2" maxlength="40" pattern="[a-z0-9][a-z0-9._\\-]{1,39}" title="${texts.nameHint}"`
    : html` maxlength="100"`
  return html`<form class="card login-form" method="post" action="${action}">
    <input type="hidden" name="returnTo" value="${returnTo}" />
    ${error !== undefined && html`<p class="alert" id="login-error" role="alert">${error}</p>`}
    <div>
      <label for="username">${texts.userName}</label>
      <input
        class="field"
        id="username"
        name="username"
        value="${username}"
        required${name}
        autocomplete="username"
        autocapitalize="none"
        spellcheck="false"
        ${invalid}${error === undefined && html` autofocus`}
      />
      ${isNew && html`<p class="small">${texts.nameHint}</p>`}
    </div>
    <div>
      <label for="password">${texts.password}</label>
      <input
        class="field"
        id="password"
        name="password"
        type="password"
        required${isNew && html` minlength="8"`}
        maxlength="200"
        autocomplete="${isNew ? 'new-password' : 'current-password'}"
        ${invalid}${error !== undefined && html` autofocus`}
      />
      ${isNew && html`<p class="small">${texts.passwordHint}</p>`}
    </div>
    <button class="button primary" type="submit">${isNew ? texts.createAccount : texts.signIn}</button>
  </form>`
}

/** One button for each account: a form of its own, which needs no script either. */
function demoForm(texts: Texts, returnTo: string): Html {
  const buttons = demoAccounts.map(
    ({ name, person, isAdmin, permissions }) =>
      html`<form method="post" action="/login">
        <input type="hidden" name="returnTo" value="${returnTo}" /><input
          type="hidden"
          name="username"
          value="${name}"
        /><input type="hidden" name="password" value="demo-${name}" />
        <button class="button account" type="submit">
          <span class="face face-${name}" aria-hidden="true">${initials(person)}</span
          ><span
            ><b>${person}</b
            ><span class="small"
              >${isAdmin ? texts.administrator : permissions.length > 0 ? texts.editor : texts.member}</span
            ></span
          >
        </button>
      </form>`,
  )
  return html`<section class="demo" aria-label="${texts.demoAccounts}">
    <p class="small">${texts.demoLead}</p>
    <div>${buttons}</div>
  </section>`
}
