/**
 * The page of an API: complete without a script. `pages/comfort.ts` adds what it finds marks for: search
 * (`data-filter`) and requests (`data-request`).
 */
import { type Html, html } from './html.ts'
import type { Api, Operation, Row, Success } from './openapi.ts'
import { icon } from './site-header.ts'

/** The content of `<body>` below the header. */
export function apiPage({ title, description, version, groups }: Api): Html {
  return html`<main class="page docs" id="main">
    <nav class="docs-side" aria-label="Operations">
      <ul>
        ${groups.map(
          ({ tag, operations }) =>
            html`<li>
              <a href="#${tag}">${capital(tag)}<span class="small">${operations.length}</span></a>
            </li>`,
        )}
      </ul>
    </nav>
    <div class="docs-main">
      <h1>${title}</h1>
      <p class="lead">${description}</p>
      <p class="small">
        Version ${version} · <a href="/openapi.json">OpenAPI document</a> · Failures are problem details (<a
          href="https://www.rfc-editor.org/rfc/rfc9457"
          >RFC 9457</a
        >). Operations need a session; those marked with a permission need that, too, and public ones need
        nothing.
      </p>
      <div class="docs-find" role="search" hidden>
        <span class="field with-button"
          >${icon('search')}<input
            type="search"
            data-filter=".operation"
            aria-label="Search operations"
            placeholder="Search operations"
        /></span>
        <p class="small" role="status"></p>
      </div>
      ${groups.map(
        ({ tag, operations }) =>
          html`<section class="docs-group" aria-labelledby="${tag}">
            <h2 id="${tag}">${capital(tag)}</h2>
            <div class="card">${operations.map(operationOf)}</div>
          </section>`,
      )}
    </div>
  </main>`
}

function operationOf(operation: Operation): Html {
  const { id, method, path, summary, description, access, parameters, body, successes, problems } = operation
  return html`<details class="operation" id="${id}">
    <summary>
      <span class="method is-${method}">${method.toUpperCase()}</span><code>${breakable(path)}</code
      ><span class="docs-summary">${summary}</span
      >${access !== 'signed-in' && html`<span class="pill">${access}</span>`}
    </summary>
    <div class="docs-body">
      ${description !== '' && html`<p>${description}</p>`}
      ${parameters.length > 0 && table('Parameters', parameters, true)}
      ${body.length > 0 && table('Body', body, false)}
      <h3>Answers</h3>
      <ul class="answers">
        ${successes.map(successOf)}${
          problems.length > 0 &&
          html`<li>
            ${problems.map((status) => html`<span class="method is-problem">${status}</span> `)}problem
            details
          </li>`
        }
      </ul>
      ${requestForm(operation)}
    </div>
  </details>`
}

/** A long path may wrap after its slashes. */
function breakable(path: string): Html[] {
  return path.split(/(?<=\/)/).map((part) => html`${part}<wbr />`)
}

function table(caption: string, rows: readonly Row[], hasPlaces: boolean): Html {
  return html`<h3>${caption}</h3>
    <dl class="rows">
      ${rows.map(
        ({ name, place, type, isRequired, description }) =>
          html`<div>
            <dt>
              <code>${name}</code
              >${isRequired && html` <span class="needed">required</span>`}${hasPlaces && html` <span class="small">${place}</span>`}
            </dt>
            <dd>
              <code>${type}</code>${description !== '' && html` <span class="small">${description}</span>`}
            </dd>
          </div>`,
      )}
    </dl>`
}

function successOf({ status, description, type, rows }: Success): Html {
  const text = description === 'Default Response' ? '' : description
  const answer = html`<span class="method is-good">${status}</span>
    ${type === null ? text || 'no body' : html`<code>${type.length > 80 ? 'object' : type}</code> ${text}`}`
  return rows.length === 0
    ? html`<li>${answer}</li>`
    : html`<li>
        <details class="members">
          <summary>${answer}</summary>
          ${table('Members', rows, false)}
        </details>
      </li>`
}

/** Hidden until the script can send it. */
function requestForm({ id, method, path, summary, parameters, example }: Operation): Html {
  const inputs = parameters
    .filter(({ place }) => place === 'path' || place === 'query')
    .map(({ name, place, isRequired }) => {
      const field = `${id}.${name}`
      return html`<div>
        <label for="${field}">${name}</label
        ><input
          class="field"
          id="${field}"
          name="${name}"
          data-place="${place}"
          ${isRequired && html` required`}
          autocomplete="off"
          spellcheck="false"
        />
      </div>`
    })
  const body =
    example !== null &&
    html`<div>
      <label for="${id}.body">Body</label
      ><textarea
        class="field"
        id="${id}.body"
        name="body"
        rows="${Math.min(example.split('\n').length + 1, 12)}"
        spellcheck="false"
      >
${example}</textarea>
    </div>`
  return html`<form
    class="request"
    data-request="${method}"
    data-path="${path}"
    aria-label="Try: ${summary}"
    hidden
  >
    ${inputs}${body}
    <p class="actions">
      <button class="button" type="submit">Send</button><span class="small" role="status"></span>
    </p>
    <pre class="answer" role="region" tabindex="0" aria-label="The answer" hidden></pre>
  </form>`
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
