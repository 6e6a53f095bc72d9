/**
 * Error pages: rendered by the application's Inertia adapter; where it has none, or where that fails, one HTML file with places
 * for status, title and message, which is read at boot.
 */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import {
  isRead,
  type PageRenderer,
  prefersJson,
  type RenderedPage,
  safeRead,
  safeText,
} from '@fastify-modular/core/internal'
import { problemOfStatus, statusMessage, statusTitle } from '@fastify-modular/core/problem'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** What an error page says: the props of component `Error/{status}`. */
export interface ErrorPageProps {
  readonly status: number
  readonly title: string
  readonly message: string
  /** Names the request in the log; only documents about a 5xx have it. */
  readonly requestId?: string
}

/** A rendered answer. */
export interface Answer extends RenderedPage {
  readonly status: number
}

/** The application's renderer, looked up when it is used: it may be registered after this package, or in a child scope. */
export function rendererOf(app: FastifyInstance): PageRenderer | undefined {
  const found = safeRead(app, 'inertia')
  return typeof safeRead(found, 'render') === 'function' ? (found as PageRenderer) : undefined
}

/** What a page is rendered for, and with what. */
export interface ErrorPageRequest {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly props: ErrorPageProps
  /** The HTTP status of the answer. */
  readonly status: number
  /** Whether the props that all pages share join those of the error: for documents and full renders (decision 55). */
  readonly shared: boolean
  readonly renderer: PageRenderer
}

/**
 * Renders the page of an error, as component `Error/{status}`.
 * @throws what the renderer throws
 */
export async function renderErrorPage(options: ErrorPageRequest): Promise<Answer> {
  const { request, reply, props, status, shared, renderer } = options
  const page = { component: `Error/${props.status}`, props: withRequestId(request, props), status, shared }
  const rendered = await renderer.render(request, reply, page)
  if (typeof rendered.body !== 'string' && !Buffer.isBuffer(rendered.body))
    throw new TypeError('The page renderer returned no body')
  return { ...rendered, status }
}

/** A document about a defect names the request, for people who ask for help; visits get three props (decision 44). */
function withRequestId({ headers, id }: FastifyRequest, props: ErrorPageProps): Record<string, unknown> {
  const isNamed = props.status >= 500 && headers['x-inertia'] === undefined
  return isNamed ? { ...props, requestId: String(id) } : { ...props }
}

/** Writes the HTML file about an error. */
export type WriteErrorPage = (words: ErrorPageProps) => string

/** The HTML file to use, with a warning where it is not the one that the option names. */
export interface LoadedPage {
  readonly write: WriteErrorPage
  readonly warning?: string
}

const maxBytes = 262_144

/** The package's own page. */
const builtIn = new URL('../assets/error.html', import.meta.url)

/** In its place in a bundled application that lost the file. */
const bare = '<!doctype html><title>{{title}}</title><h1>{{title}}</h1><p>{{message}}</p>'

/** Where an application's page lies unless the option names another place. */
const defaultFile = 'wwwroot/error.html'

/**
 * Reads the application's page. The package's own stands in for one that cannot be read, is empty or larger than 256 KiB, with a
 * warning that says so; and, for other statuses than 500, for one without a mark. Never throws.
 * @param file a path, relative to the working directory; undefined stands for the usual place, false for the package's own page
 */
export async function loadErrorPage(file?: string | URL | false): Promise<LoadedPage> {
  const own = await readFile(builtIn, 'utf8').catch(() => bare)
  const wanted = file ?? defaultFile
  const { html = own, flaw } = wanted === false ? {} : await readPage(wanted)
  const isForAll = /\{\{(?:status|title|message)\}\}/.test(html)
  const isOptional = file === undefined && flaw === missing
  return {
    write: (words) => fillIn(isForAll || words.status === 500 ? html : own, words),
    ...(flaw !== undefined &&
      !isOptional && { warning: `The error page ${String(wanted)} ${flaw}; the built-in page is used.` }),
  }
}

const missing = 'does not exist'

async function readPage(file: string | URL): Promise<{ html?: string; flaw?: string }> {
  try {
    const bytes = await readFile(typeof file === 'string' ? resolve(file) : file)
    if (bytes.length === 0) return { flaw: 'is empty' }
    return bytes.length > maxBytes ? { flaw: 'is larger than 256 KiB' } : { html: String(bytes) }
  } catch (error) {
    const code = safeText(error, 'code')
    return { flaw: code === 'ENOENT' || code === 'ENOTDIR' ? missing : `cannot be read (${code})` }
  }
}

/** The file with these words in place of its marks, escaped. */
function fillIn(html: string, words: ErrorPageProps): string {
  return html.replaceAll(/\{\{(status|title|message)\}\}/g, (_mark, name: 'status' | 'title' | 'message') =>
    String(words[name]).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`),
  )
}

/**
 * For self-contained pages: an application's own policy may refuse the style in them, and nothing that a page would load from
 * elsewhere can be relied on while the server fails.
 */
const ownPolicy = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}

/** The renderer of applications without Inertia: page JSON without a version for the Inertia client, the HTML file for all others. */
export function createStandIn(write: WriteErrorPage): PageRenderer {
  return {
    version: () => null,
    async render(request, _reply, { component, props }) {
      if (request.headers['x-inertia'] !== undefined) {
        const body = JSON.stringify({ component, props, url: addressOf(request), version: null })
        return { body, contentType: 'application/json', headers: { 'x-inertia': 'true' } }
      }
      const { status, title, message } = props
      const body = write({ status: Number(status), title: String(title), message: String(message) })
      return { body, contentType: 'text/html; charset=utf-8', headers: ownPolicy }
    },
  }
}

/**
 * Path and query that the client files the page under. It assigns them to the address bar, so they must not leave the
 * site (`//evil.example`), and a refresh must not GET the address of a form: other methods get the home page's.
 */
function addressOf(request: FastifyRequest): string {
  const isOwn = /^\/(?![/\\])[\x21-\x7e]*$/.test(request.originalUrl)
  return isOwn && isRead(request) ? request.originalUrl : '/'
}

/** The constant answer to a request for which nothing else could be rendered or sent. Never throws. */
export type LastResort = (request: FastifyRequest) => Answer

/** Makes the constants at boot: the HTML file about a 500, and a problem for clients that prefer JSON. */
export function createLastResort(write: WriteErrorPage): LastResort {
  const page: Answer = {
    status: 500,
    contentType: 'text/html; charset=utf-8',
    body: Buffer.from(write({ status: 500, title: statusTitle(500), message: statusMessage(500) })),
    headers: ownPolicy,
  }
  const problem: Answer = {
    ...page,
    contentType: 'application/problem+json',
    body: Buffer.from(JSON.stringify(problemOfStatus(500))),
    headers: {},
  }
  return ({ headers }) => (headers['x-inertia'] === undefined && prefersJson(headers) ? problem : page)
}
