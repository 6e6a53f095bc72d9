/** Tags of content that is known by what it is made of, or by its bytes. */
import { createHash } from 'node:crypto'
import type { JsonValue } from '../../setting-definition.ts'

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
