/** What a first visit shows where there is no JavaScript: an error page is complete, any other says what it needs. */
import type { Page } from '@fastify-modular/inertia'
import type { SharedProps } from './shared-props.ts'
import { errorTexts, format, type Texts, textsOf } from '../texts/texts.ts'
import { pictureOf } from './drawings.ts'
import { type Html, html } from './html.ts'
import { siteHeader, strokes } from './site-header.ts'

/** The content of `<noscript>`. */
export function withoutScript({ component, props, url }: Page): Html {
  const { app, user = null }: Partial<SharedProps> = props
  const texts = textsOf(app?.language ?? 'en')
  const main = /^Error\/\d{3}$/.test(component)
    ? errorMain(texts, props, user)
    : html`<h1>${app?.title}</h1>
        <p>${texts.needsScript}</p>
        <p class="actions"><a class="button primary" href="/api/docs">${texts.browseApi}</a></p>`
  return html`${app && siteHeader({ app, user }, url)}
    <main class="error" id="main">${main}</main>`
}

function errorMain(texts: Texts, props: Page['props'], user: SharedProps['user']): Html {
  const { status, title, message, requestId } = props
  const error = { status: Number(status), title: String(title), message: String(message) }
  const { heading, text } = errorTexts(texts, { ...error, userName: user?.name ?? null })
  return html`<svg class="picture" viewBox="0 0 200 120" aria-hidden="true">
      ${strokes(pictureOf(error.status))}
    </svg>
    <p class="small">${format(texts.errorNumber, error)}</p>
    <h1>${heading}</h1>
    <p>${text}</p>
    <p class="actions">
      ${error.status >= 500 && html`<a class="button primary" href="">${texts.tryAgain}</a>`}<a
        class="button"
        href="/"
        >${texts.home}</a
      >
    </p>
    ${requestId !== undefined && html`<p class="card reference"><span class="small">${texts.reference}</span> <code>${String(requestId)}</code></p>`}`
}
