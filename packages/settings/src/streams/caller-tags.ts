/** What pages and answers say about their caller, so that the tabs of one browser share one stream. */
import { createHmac } from 'node:crypto'
import { safeRead } from '@fastify-modular/core/internal'
import type { FastifyRequest } from 'fastify'
import type { UserReader } from '../reading/reader.ts'
import type { JsonValue } from '../setting-definition.ts'

/** What a page knows of settings before its scripts run. */
export interface PublicData {
  /** Names caller and session; null for callers who are not signed in. */
  readonly tag: string | null
  /** Of public settings, by key. */
  readonly values: Readonly<Record<string, JsonValue>>
}

/** So many tags are kept. */
const capacity = 1000

/** Names of callers and sessions: the same on all instances; without the secret of the database they say nothing. */
export class CallerTags {
  #secret = ''
  /** By caller and session: a tenth of the time of the hash, which each answer would need. */
  readonly #known = new Map<string, string>()

  /** @param store what opened before */
  async start(store: { secret(): Promise<string> }): Promise<void> {
    this.#secret = await store.secret()
  }

  of(request: FastifyRequest, callerId: string): string {
    // As @fastify/session has it. Elsewhere a caller who signs in again is the same one.
    const session = safeRead(safeRead(request, 'session'), 'sessionId')
    const named = JSON.stringify([callerId, typeof session === 'string' ? session : null])
    const known = this.#known.get(named)
    if (known !== undefined) return known
    const tag = createHmac('sha256', this.#secret).update(named).digest('base64url').slice(0, 22)
    if (this.#known.size >= capacity) this.#known.clear()
    this.#known.set(named, tag)
    return tag
  }
}

/** The element of a page with the public values that hold for its caller: data, which no policy of scripts refuses. */
export async function toDataElement(
  tags: CallerTags,
  request: FastifyRequest,
  publicValues: PublicData['values'],
): Promise<string> {
  const reader: UserReader = await request.settings
  const { userId } = reader
  const data: PublicData = {
    tag: userId === null ? null : tags.of(request, userId),
    values: Object.fromEntries(
      Object.entries(publicValues).map(([key, shared]) => [
        key,
        userId === null ? shared : ownOr(shared, reader, key),
      ]),
    ),
  }
  // Nothing in it ends the element, or begins a comment in it.
  const json = JSON.stringify(data).replaceAll('<', String.raw`\u003c`)
  return `<script type="application/json" id="settings-data">${json}</script>`
}

/** The value that holds for the reader; the shared one where that cannot be read. */
function ownOr(shared: JsonValue, reader: { get(key: string): JsonValue }, key: string): JsonValue {
  try {
    return reader.get(key)
  } catch {
    return shared
  }
}
