/**
 * Error pages, in the order in which they are tried: rendered by the application's Inertia adapter, or by a stand-in where
 * it has none (decision 55); when that fails, the constant page of last resort, which is loaded at boot.
 */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import {
  type PageRenderer,
  prefersJson,
  safeRead,
  safeText,
  withTimeout,
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
export interface Answer {
  readonly status: number
  readonly contentType: string
  readonly body: string | Buffer
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The application's renderer, looked up when it is used: it may be registered after this package, or in a child scope. */
export function rendererOf(app: FastifyInstance): PageRenderer | undefined {
  const found = safeRead(app, 'inertia')
  return typeof safeRead(found, 'render') === 'function' ? (found as PageRenderer) : undefined
}

/** Milliseconds after which a renderer has failed. */
export const renderTimeout = 2000

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
 * @throws what the renderer throws, or an error when it is not done in time
 */
export async function renderErrorPage(options: ErrorPageRequest): Promise<Answer> {
  const { request, reply, props, status, shared, renderer } = options
  const page = { component: `Error/${props.status}`, props: withRequestId(request, props), status, shared }
  const { body, contentType, headers } = await withTimeout(
    renderer.render(request, reply, page),
    renderTimeout,
    () => {
      throw new Error(`The error page was not rendered within ${renderTimeout} ms`)
    },
  )
  if (typeof body !== 'string' && !Buffer.isBuffer(body))
    throw new TypeError('The page renderer returned no body')
  return { status, contentType, body, headers }
}

/** A document about a defect names the request, for people who ask for help; visits get three props (decision 44). */
function withRequestId({ headers, id }: FastifyRequest, props: ErrorPageProps): Record<string, unknown> {
  const isNamed = props.status >= 500 && headers['x-inertia'] === undefined
  return isNamed ? { ...props, requestId: String(id) } : { ...props }
}

/**
 * For self-contained pages: an application's own policy may refuse the style in them, and nothing that a page would load from
 * elsewhere can be relied on while the server fails.
 */
const ownPolicy = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}

/** The renderer of applications without Inertia: page JSON without a version for the Inertia client, a self-contained document for all others. */
export function createStandIn(template: string): PageRenderer {
  return {
    version: () => null,
    render(request, _reply, { component, props, status }) {
      if (request.headers['x-inertia'] !== undefined) {
        const body = JSON.stringify({ component, props, url: addressOf(request), version: null })
        return Promise.resolve({ body, contentType: 'application/json', headers: { 'x-inertia': 'true' } })
      }
      const body = fillIn(template, {
        status,
        title: String(props['title']),
        message: String(props['message']),
      })
      return Promise.resolve({ body, contentType: 'text/html; charset=utf-8', headers: ownPolicy })
    },
  }
}

/**
 * Path and query that the client files the page under. It assigns them to the address bar, so they must not leave the
 * site (`//evil.example`), and a refresh must not GET the address of a form: other methods get the home page's.
 */
function addressOf({ method, originalUrl }: FastifyRequest): string {
  const isOwn = /^\/(?![/\\])[\x21-\x7e]*$/.test(originalUrl)
  return isOwn && (method === 'GET' || method === 'HEAD') ? originalUrl : '/'
}

const maxBytes = 262_144

/** The package's own page, for when the application has none. */
const builtIn = new URL('../assets/error.html', import.meta.url)

/** The page to use, with a warning where it is not the one that the option names. */
export interface LoadedPage {
  readonly body: Buffer
  readonly warning?: string
}

/** Where an application's page lies unless the option names another place. */
const usual = 'wwwroot/error.html'

/**
 * Reads the application's page; the package's own stands in for one that cannot be read, is empty or larger than 256 KiB,
 * with a warning that says so. Never throws.
 * @param file a path, relative to the working directory; undefined stands for the usual place, false for the package's own page
 */
export async function loadErrorPage(file?: string | URL | false): Promise<LoadedPage> {
  if (file === false) return { body: await builtInPage() }
  const wanted = file ?? usual
  const { body, flaw } = await readPage(typeof wanted === 'string' ? resolve(wanted) : wanted)
  if (body) return { body }
  const isOptional = file === undefined && flaw === missing
  const warning = `The error page ${String(wanted)} ${flaw}; the built-in page is used.`
  return { body: await builtInPage(), ...(!isOptional && { warning }) }
}

const missing = 'does not exist'

async function readPage(path: string | URL): Promise<{ body?: Buffer; flaw?: string }> {
  try {
    const body = await readFile(path)
    const flaw = flawOf(body)
    return flaw === undefined ? { body } : { flaw }
  } catch (error) {
    const code = safeText(error, 'code')
    return { flaw: code === 'ENOENT' || code === 'ENOTDIR' ? missing : `cannot be read (${code})` }
  }
}

function flawOf({ length }: Buffer): string | undefined {
  if (length === 0) return 'is empty'
  return length > maxBytes ? 'is larger than 256 KiB' : undefined
}

/** The package's page about a 500. */
async function builtInPage(): Promise<Buffer> {
  return Buffer.from(
    fillIn(await builtInTemplate(), { status: 500, title: statusTitle(500), message: statusMessage(500) }),
  )
}

/** The package's page with places for `fillIn`; two lines in its place in a bundled application that lost the file. */
export async function builtInTemplate(): Promise<string> {
  return readFile(builtIn, 'utf8').catch(
    () => '<!doctype html><title>{{title}}</title><h1>{{title}}</h1><p>{{message}}</p>',
  )
}

/** The template with these words in its places, escaped. */
export function fillIn(template: string, words: ErrorPageProps): string {
  return template.replaceAll(
    /\{\{(status|title|message)\}\}/g,
    (_place, name: 'status' | 'title' | 'message') => escape(String(words[name])),
  )
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** The constant answer to a request for which nothing else could be rendered or sent. Never throws. */
export type LastResort = (request: FastifyRequest) => Answer

/** Makes the constants at boot: a page, and a problem for clients that prefer JSON. */
export function createLastResort(errorPage: Buffer): LastResort {
  const page: Answer = {
    status: 500,
    contentType: 'text/html; charset=utf-8',
    body: errorPage,
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
