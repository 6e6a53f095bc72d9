/** What one answer leaves for the next page: the errors of a form, and messages that are shown once. */
import { createHash } from 'node:crypto'
import { logFailure, readCaller, withTimeout } from '@fastify-modular/core/internal'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isPrefetch, type PageFlags } from './page.ts'
import type { Props } from './props.ts'

/** Flags of a page that survive a redirect to it. */
type KeptFlags = Pick<PageFlags, 'clearHistory' | 'preserveFragment'>

/** Left for one answer: of one page, within a minute; errors are for one caller. */
export interface FlashEntry extends KeptFlags {
  /** When it was left, in milliseconds since 1970. */
  readonly at: number
  /** A digest of the address of the page that it is for. */
  readonly page: string
  /** The props that the form wants back, where it named them (`only`): that partial reload shows the entry, too. */
  readonly only?: string
  /** The id of the caller whom it is for; null for an anonymous one. Messages without errors are for any: sign-in changes the caller. */
  readonly caller?: string | null
  /** One message by field. */
  readonly errors?: Readonly<Record<string, unknown>>
  /** The name below which the form expects its errors. */
  readonly bag?: string
  /** Becomes `page.flash`. */
  readonly flash?: Props
}

/** Where the entry of a client waits. `cookieFlash` needs nothing else; with a session these are two lines. */
export interface FlashStore {
  /** Keeps an entry in place of the one before; null forgets it. */
  put(request: FastifyRequest, entry: FlashEntry | null, reply: FastifyReply): void | Promise<void>
  /** Returns the entry, and keeps it. */
  get(request: FastifyRequest): FlashEntry | null | undefined | Promise<FlashEntry | null | undefined>
  /** Called when the application is ready; throws where the store cannot work. */
  check?(app: FastifyInstance): void
}

/** In milliseconds. */
const lifetime = 60_000

/** In milliseconds; less than an error page has for being rendered, which waits for the store as well. */
const patience = 1000

/** Leaves errors and messages for the page at `path`. */
export async function leaveFlash(
  store: FlashStore,
  { request, reply, path, errors, flash, clearHistory, preserveFragment }: Left,
): Promise<void> {
  const only = selectionOf(request)
  const hasErrors = errors !== undefined && Object.keys(errors).length > 0
  const bag = request.headers['x-inertia-error-bag']
  const entry: FlashEntry = {
    at: Date.now(),
    page: digest(path),
    ...(only !== undefined && { only }),
    ...(hasErrors && { caller: callerIdOf(request), errors: firstMessages(errors) }),
    ...(typeof bag === 'string' && { bag }),
    ...(flash && { flash }),
    ...(clearHistory && { clearHistory }),
    ...(preserveFragment && { preserveFragment }),
  }
  await bounded(() => store.put(request, entry, reply))
}

function callerIdOf(request: FastifyRequest): string | null {
  return readCaller(request)?.id ?? null
}

async function bounded<T>(call: () => T | Promise<T>): Promise<T> {
  const answer = Promise.resolve().then(call)
  return withTimeout(answer, patience, () => {
    throw new Error(`The flash store did not answer within ${patience} ms`)
  })
}

/** What `reply.inertiaBack` leaves, and for which page. */
export interface BackOptions extends KeptFlags {
  /** By field, for the form on it: `props.errors`. */
  readonly errors?: Readonly<Record<string, unknown>>
  /** Messages that are shown once: `page.flash`. */
  readonly flash?: Props
  /** Path and query of another page of this application, without `basePath`. @default the page that the request was sent from */
  readonly to?: string
}

interface Left extends Omit<BackOptions, 'to'> {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly path: string
}

/** A form shows one message a field. */
function firstMessages(errors: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(errors).map(([field, texts]) => [field, [texts].flat()[0]]))
}

/**
 * The entry for this answer, if it shows it to a person; it is kept until the store is given null. One for another page is left
 * as it is, and no cookie is written: that answer may arrive after the page that shows the entry.
 */
export async function findFlash(
  store: FlashStore,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FlashEntry | null> {
  if (request.method !== 'GET' || isPrefetch(request)) return null
  const entry = await bounded(() => store.get(request)).catch((err: unknown) => {
    logFailure(request.log, 'error', { err }, 'the flash store could not be read: what it holds is not shown')
  })
  if (!entry) return null
  const isMine = entry.caller === undefined || entry.caller === callerIdOf(request)
  if (!isMine || Math.abs(Date.now() - entry.at) > lifetime) {
    await forgetFlash(store, request, reply)
    return null
  }
  const only = selectionOf(request)
  const isForThis = entry.page === digest(request.originalUrl) && (only === undefined || only === entry.only)
  return isForThis ? entry : null
}

/** Empties the store; the page that was rendered is shown also where that fails. */
export async function forgetFlash(
  store: FlashStore,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  await bounded(() => store.put(request, null, reply)).catch((err: unknown) =>
    logFailure(request.log, 'error', { err }, 'the flash store could not be emptied: it may be shown again'),
  )
}

/** What a partial reload selects; undefined for a whole page. The client repeats the headers of a form when it is redirected. */
function selectionOf({ headers }: FastifyRequest): string | undefined {
  if (headers['x-inertia-partial-component'] === undefined) return undefined
  return digest(JSON.stringify([headers['x-inertia-partial-data'], headers['x-inertia-partial-except']]))
}

/** Short, however long an address is: a cookie holds 4 kB. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
