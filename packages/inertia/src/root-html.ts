/** The HTML of a first visit: the page object in a data block beside the element that the client renders into. */
import { refuseOptions } from '@fastify-modular/core/internal'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Page } from './page.ts'

/** What a template function gets. */
interface RootParts {
  /** The two elements that must be in the body: the page as data, and `<div id="app">`. */
  readonly html: string
  readonly page: Page
  readonly request: FastifyRequest
  /** For the document's own inline scripts and styles. */
  readonly nonce: string | undefined
}

/** A document with the mark `<!--inertia-->` where the page belongs, or a function that writes the document. */
export type RootTemplate = string | ((parts: RootParts) => string | Promise<string>)

/** The nonce of the response's Content-Security-Policy, where there is one. */
export type NonceSource = (request: FastifyRequest, reply: FastifyReply) => string | undefined

const mark = '<!--inertia-->'

const plainDocument = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
</head>
<body>${mark}</body>
</html>
`

/**
 * A function that writes the document around a page.
 * @throws {FMOD_CORE_INVALID_OPTION} the mark is missing or repeated
 */
export function compileRoot(
  template: RootTemplate = plainDocument,
): (parts: Omit<RootParts, 'html'>) => string | Promise<string> {
  if (typeof template === 'function') return (parts) => template({ ...parts, html: embed(parts) })
  const [before = '', after, ...more] = template.split(mark)
  const hasOneMark = after !== undefined && more.length === 0
  const rule = `rootTemplate must hold the mark "${mark}" once, where the page belongs`
  refuseOptions('the inertia plugin', hasOneMark ? [] : [rule])
  return (parts) => before + embed(parts) + after
}

function embed({ page, nonce }: Omit<RootParts, 'html'>): string {
  const nonceAttribute = nonce === undefined ? '' : ` nonce="${escapeAttribute(nonce)}"`
  return `<script data-page="app" type="application/json"${nonceAttribute}>${escapeJson(page)}</script><div id="app"></div>`
}

/** URLs, titles and props hold text from users: nothing in it may end the element or start a comment. */
function escapeJson(page: Page): string {
  return JSON.stringify(page).replace(/[<>&\u2028\u2029]/g, toUnicodeEscape)
}

function toUnicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
