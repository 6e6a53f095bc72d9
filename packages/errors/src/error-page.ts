/** What renders pages: the application's Inertia adapter, or a small stand-in where it has none (decision 55). */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { prefersJson, safeRead, safeText } from '@fastify-modular/core/internal'
import { problemOfStatus, statusMessage, statusTitle } from '@fastify-modular/core/problem'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** A page of the front end. */
export interface PageRequest {
  readonly component: string
  readonly props: Record<string, unknown>
  /** The HTTP status that it will be sent with. */
  readonly status: number
  /** Whether the props that all pages share join these. */
  readonly shared: boolean
}

/** A page as it is sent. */
export interface RenderedPage {
  readonly body: string | Buffer
  readonly contentType: string
  readonly headers?: Record<string, string>
}

/** A rendered answer. */
export interface Answer {
  readonly status: number
  readonly contentType: string
  readonly body: string | Buffer
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** What an adapter decorates as `app.inertia`; any object with these two functions will do. */
export interface PageRenderer {
  render(request: FastifyRequest, reply: FastifyReply, page: PageRequest): Promise<RenderedPage>
  /** The version of the client's assets. */
  version(): string | null
}

/** The application's renderer, looked up when it is used: it may be registered after this package, or in a child scope. */
export function rendererOf(app: FastifyInstance): PageRenderer | undefined {
  const found = safeRead(app, 'inertia')
  return typeof safeRead(found, 'render') === 'function' ? (found as PageRenderer) : undefined
}

/** Page JSON without a version for the Inertia client, a self-contained document for everyone else. */
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
      return Promise.resolve({ body, contentType: 'text/html; charset=utf-8' })
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

export interface PageSettings {
  /** Renders where the application has no Inertia adapter. */
  readonly standIn: PageRenderer
  /** Milliseconds after which a renderer has failed. */
  readonly timeout: number
}

export interface PageOptions {
  /** The HTTP status of the answer. */
  readonly status: number
  /** Whether the props that all pages share join the three: only for full renders (decision 55). */
  readonly shared: boolean
}

/**
 * Renders the page.
 * @throws what the renderer throws, or an error when it is not done in time
 */
export async function renderPage(
  request: FastifyRequest,
  reply: FastifyReply,
  props: ErrorPageProps,
  { status, shared }: PageOptions,
  { standIn, timeout }: PageSettings,
): Promise<Answer> {
  const renderer = rendererOf(request.server) ?? standIn
  const page = { component: `Error/${props.status}`, props: withRequestId(request, props), status, shared }
  const rendered = await inTime(renderer.render(request, reply, page), timeout)
  const { body, contentType, headers } = rendered
  if (typeof body !== 'string' && !Buffer.isBuffer(body))
    throw new TypeError('The page renderer returned no body')
  return { status, contentType, body, headers }
}

/** A document about a defect names the request, for people who ask for help; visits get three props (decision 44). */
function withRequestId({ headers, id }: FastifyRequest, props: ErrorPageProps): Record<string, unknown> {
  const isNamed = props.status >= 500 && headers['x-inertia'] === undefined
  return isNamed ? { ...props, requestId: String(id) } : { ...props }
}

async function inTime<T>(promise: Promise<T>, timeout: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`The error page was not rendered within ${timeout} ms`)),
      timeout,
    )
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

const maxBytes = 262_144

/** The package's own page, for when the application has none. */
const builtIn = new URL('../assets/error.html', import.meta.url)

/** Loads from elsewhere, or runs: what a page cannot rely on while the server fails. */
const dependencies =
  /<(?:script|iframe|frame|object|embed|base)\b|<link\b[^>]*\bhref\b|\bsrc(?:set)?\s*=\s*(?!["']?data:)|@import\b|url\(\s*(?!["']?data:)|http-equiv\s*=\s*["']?refresh/i

/** The page to use, and why it is not the one asked for. */
export interface ErrorPage {
  readonly body: Buffer
  readonly warning?: string
}

/** Where an application's page lies that no option names. */
const usual = 'wwwroot/error.html'

/**
 * Reads the application's page; the package's own stands in for one that cannot be read, is empty, larger than 256 KiB
 * or not self-contained, with a warning that says so. Never throws.
 * @param file a path under the working directory; without one, the usual page counts if there is one; false asks for
 *   the package's own
 */
export async function loadErrorPage(file?: string | URL | false): Promise<ErrorPage> {
  if (file === false) return { body: await builtInPage() }
  const wanted = file ?? usual
  const { body, flaw } = await readPage(typeof wanted === 'string' ? resolve(wanted) : wanted)
  if (body) return { body }
  const isUnasked = file === undefined && flaw === missing
  const warning = `The error page ${String(wanted)} ${flaw}; the built-in page is used.`
  return { body: await builtInPage(), ...(!isUnasked && { warning }) }
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

function flawOf(body: Buffer): string | undefined {
  if (body.length === 0) return 'is empty'
  if (body.length > maxBytes) return 'is larger than 256 KiB'
  const [found] = dependencies.exec(body.toString()) ?? []
  return found && `is not self-contained (it has "${found.slice(0, 40)}")`
}

/** The package's page about a 500. */
async function builtInPage(): Promise<Buffer> {
  return Buffer.from(
    fillIn(await builtInTemplate(), { status: 500, title: statusTitle(500), message: statusMessage(500) }),
  )
}

/** The package's page with places for `fillIn`; a bundled application that lost the file gets two lines instead. */
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

/** What an error page says: the props of component `Error/{status}` (S 2.9). */
export interface ErrorPageProps {
  readonly status: number
  readonly title: string
  readonly message: string
  /** What the log knows the request by; only documents about a 5xx name it. */
  readonly requestId?: string
}

/** Tells which constant a request gets. Never throws. */
export type LastResort = (request: FastifyRequest) => Answer

/** Makes both constants at boot. */
export function createLastResort(errorPage: Buffer): LastResort {
  const page: Answer = {
    status: 500,
    contentType: 'text/html; charset=utf-8',
    body: errorPage,
    headers: { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:" },
  }
  const problem: Answer = {
    ...page,
    contentType: 'application/problem+json',
    body: Buffer.from(JSON.stringify(problemOfStatus(500))),
    headers: {},
  }
  return ({ headers }) => (headers['x-inertia'] === undefined && prefersJson(headers) ? problem : page)
}
