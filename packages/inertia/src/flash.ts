/** What one answer leaves for the next page: the errors of a form, and messages that are shown once. */
import { type createFindCaller } from '@fastify-modular/core/internal'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Props } from './props.ts'

/** Left for one full page answer: of one path, to one caller, within a minute. */
export interface FlashEntry {
  /** When it was left, in milliseconds since 1970. */
  readonly at: number
  /** Path and query of the page that it is for. */
  readonly path: string
  /** The id of the caller whom it is for; null for an anonymous one. */
  readonly caller: string | null
  /** One message by field; below the name of an error bag where the form has one. */
  readonly errors?: Readonly<Record<string, unknown>>
  /** Becomes `page.flash`. */
  readonly flash?: Props
}

/**
 * Where the entry of a client waits. `cookieFlash` needs nothing else; with a session these are three lines:
 * `{ put: (request, entry) => request.session.set('flash', entry), take: … }`.
 */
export interface FlashStore {
  /** Keeps an entry in place of the one before. */
  put(request: FastifyRequest, entry: FlashEntry, reply: FastifyReply): void | Promise<void>
  /** Returns the entry and forgets it. */
  take(
    request: FastifyRequest,
    reply: FastifyReply,
  ): FlashEntry | null | undefined | Promise<FlashEntry | null | undefined>
  /** Called when the application is ready; throws where the store cannot work. */
  check?(app: FastifyInstance): void
}

/** In milliseconds. */
const lifetime = 60_000

export interface FlashParts {
  readonly store: FlashStore
  readonly findCaller: ReturnType<typeof createFindCaller>
}

/** Leaves errors and messages for the page at `path`. */
export async function leaveFlash(
  { store, findCaller }: FlashParts,
  { request, reply, path, errors, flash }: Left,
): Promise<void> {
  const bag = request.headers['x-inertia-error-bag']
  const caller = (await findCaller(request))?.id ?? null
  const entry: FlashEntry = {
    at: Date.now(),
    path,
    caller,
    ...(errors && {
      errors: typeof bag === 'string' ? { [bag]: firstMessages(errors) } : firstMessages(errors),
    }),
    ...(flash && { flash }),
  }
  await store.put(request, entry, reply)
}

interface Left {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly path: string
  readonly errors?: Readonly<Record<string, unknown>> | undefined
  readonly flash?: Props | undefined
}

/** A form shows one message a field. */
function firstMessages(errors: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(errors).map(([field, texts]) => [
      field,
      Array.isArray(texts) ? (texts as unknown[])[0] : texts,
    ]),
  )
}

/** The entry for this page, if it is shown now. One for another page is left where it is. */
export async function takeFlash(
  { store, findCaller }: FlashParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FlashEntry | null> {
  const entry = await store.take(request, reply)
  if (!entry || Math.abs(Date.now() - entry.at) > lifetime) return null
  if (entry.caller !== ((await findCaller(request))?.id ?? null)) return null
  if (entry.path === request.originalUrl) return entry
  await store.put(request, entry, reply)
  return null
}

/** Whether an answer shows a whole page to a person: prefetched pages may never be seen, and polls are not read. */
export function showsFlash({ method, headers }: FastifyRequest): boolean {
  const purpose = String(headers['purpose'] ?? headers['sec-purpose'] ?? '')
  return (
    method === 'GET' && !purpose.includes('prefetch') && headers['x-inertia-partial-component'] === undefined
  )
}
