/** The sign-in page: plain HTML, so that it works without JavaScript. */
import { escapeHtml } from '../../web/escape-html.ts'

export interface LoginPage {
  /** What went wrong, shown above the form. */
  readonly error?: string
  readonly username?: string
  readonly returnTo: string
  /** Shows the demo accounts. */
  readonly isDemo: boolean
}

/** The content of `<body>`. */
export function loginPage({ error, username = '', returnTo, isDemo }: LoginPage): string {
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
