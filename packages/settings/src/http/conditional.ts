/** Entity tags of settings and the conditions that requests put on them (RFC 9110, 13; decision 24). */
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { PreconditionFailedException } from '../exceptions.ts'
import type { JsonValue } from '../setting-definition.ts'
import type { StaleRow } from '../write/write.ts'

/** The tag of a row or of the store at a revision; `"r0"` is unset. */
export function toEtag(revision: number): string {
  return `"r${revision}"`
}

/** Whether a row may be written at its current revision; undefined if the request does not say. */
export function rowCondition({ headers }: FastifyRequest): ((revision: number) => boolean) | undefined {
  const ifMatch = headers['if-match']
  const ifNoneMatch = headers['if-none-match']
  if (ifMatch === undefined && ifNoneMatch === undefined) return undefined
  return (revision) =>
    (ifMatch === undefined || isListed(ifMatch, toEtag(revision), false)) &&
    // `*`: only if unset, because every setting that is defined has a representation.
    (ifNoneMatch === undefined ||
      (ifNoneMatch.trim() === '*' ? revision === 0 : !isListed(ifNoneMatch, toEtag(revision), true)))
}

/** Whether the caller has what would be sent. */
export function isUnchanged({ headers }: FastifyRequest, etag: string): boolean {
  const ifNoneMatch = headers['if-none-match']
  return ifNoneMatch !== undefined && isListed(ifNoneMatch, etag, true)
}

/** 412 with the current tag, for a write of one row. */
export function toPreconditionFailed(stale: readonly StaleRow[]): Error {
  const [row] = stale
  return new PreconditionFailedException(row?.key ?? '', row?.version ?? 0)
}

/** Weak tags match where equal content is enough, and never where bytes count (RFC 9110, 8.8.3.2). */
function isListed(header: string, etag: string, weak: boolean): boolean {
  if (header.trim() === '*') return true
  return header.split(',').some((item) => {
    const tag = item.trim()
    return tag === etag || (weak && tag === `W/${etag}`)
  })
}

/** JSON that is sent again and again. */
export interface KeptBody {
  readonly body: Buffer
  readonly etag: string
}

/** The bytes of a content with their own strong tag. */
export function toKeptBody(content: JsonValue | readonly unknown[]): KeptBody {
  const text = JSON.stringify(content)
  return { body: Buffer.from(text), etag: `"${fingerprint(text)}"` }
}

/** 96 bits of a hash, in 16 characters that may stand in a header. */
export function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16)
}
