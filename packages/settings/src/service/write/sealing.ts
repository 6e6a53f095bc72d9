/** Sensitive values at rest: AES-256-GCM, bound to their row, under a ring of keys (decision 13). */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { FMOD_SETTINGS_INVALID_OPTION } from '../../misuse-errors.ts'
import type { RowId } from '../../store/store.ts'

/** One key of the ring. */
export interface SealingKey {
  /** Names the key inside the envelopes: letters, digits, `_` and `-`. */
  readonly id: string
  /** 32 bytes, or their base64 or hexadecimal text. */
  readonly key: Uint8Array | string
}

/** Seals and opens values. */
export interface Sealing {
  /** The identifier of the key that seals, or null when none is configured: values then stay plain. */
  readonly activeKeyId: string | null
  /** An envelope `v1.<key id>.<nonce>.<tag>.<ciphertext>` of base64url parts. */
  seal(id: RowId, text: string): string
  /** The text of an envelope that was sealed for exactly this row. @throws {Error} wrong key, wrong row, or altered */
  open(id: RowId, envelope: string): string
  /** The identifier of the key that an envelope names. */
  keyIdOf(envelope: string): string
  /** Whether the ring holds a key. */
  knows(keyId: string): boolean
}

const version = 'v1'
const environment = 'SM_SETTINGS_KEYS'

/** A sealing over the keys of the option, or of `SM_SETTINGS_KEYS` (a JSON array); the first key is the active one. */
export function createSealing(keys: readonly SealingKey[] = keysFromEnvironment()): Sealing {
  const ring = new Map<string, Buffer>()
  for (const { id, key } of keys) {
    if (typeof id !== 'string' || !/^[\w-]{1,64}$/.test(id))
      throw invalid(`a key id must be 1–64 of A–Z, a–z, 0–9, _ and -`)
    if (ring.has(id)) throw invalid(`two keys are named "${id}"`)
    ring.set(id, toBytes(id, key))
  }
  const activeKeyId = keys[0]?.id ?? null

  return {
    activeKeyId,
    keyIdOf: (envelope) => envelope.split('.', 2)[1] ?? '',
    knows: (keyId) => ring.has(keyId),
    seal(id, text) {
      const key = ring.get(activeKeyId ?? '')
      if (!key) throw invalid('no key is configured')
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(address(id))
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      const parts = [nonce, cipher.getAuthTag(), sealed].map((part) => part.toString('base64url'))
      return [version, activeKeyId, ...parts].join('.')
    },
    open(id, envelope) {
      const [format, keyId = '', nonce = '', tag = '', sealed = ''] = envelope.split('.')
      const key = ring.get(keyId)
      if (format !== version || !key) throw new Error(`unknown key "${keyId.slice(0, 64)}"`)
      const authTag = Buffer.from(tag, 'base64url')
      const cipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), {
        authTagLength: 16,
      })
      cipher.setAAD(address(id)).setAuthTag(authTag)
      return Buffer.concat([cipher.update(Buffer.from(sealed, 'base64url')), cipher.final()]).toString('utf8')
    },
  }
}

/** An envelope copied to another row fails its authentication. JSON, so that no two rows share an address. */
function address({ scope, userId, key }: RowId): Buffer {
  return Buffer.from(JSON.stringify([scope, userId, key]))
}

function toBytes(id: string, key: Uint8Array | string): Buffer {
  const bytes =
    typeof key === 'string'
      ? Buffer.from(key, /^[0-9a-f]{64}$/i.test(key) ? 'hex' : 'base64')
      : Buffer.from(key)
  if (bytes.length !== 32) throw invalid(`the key "${id}" must have 32 bytes`)
  return bytes
}

function keysFromEnvironment(): readonly SealingKey[] {
  const text = process.env[environment]
  if (!text) return []
  try {
    const keys: unknown = JSON.parse(text)
    if (Array.isArray(keys) && keys.every(isSealingKey)) return keys
  } catch {
    // The text may hold keys: nothing of it goes into the message.
  }
  throw invalid(`${environment} must be a JSON array of { "id", "key" }`)
}

function isSealingKey(value: unknown): value is SealingKey {
  return (
    typeof value === 'object' &&
    value !== null &&
    'id' in value &&
    'key' in value &&
    typeof value.id === 'string' &&
    typeof value.key === 'string'
  )
}

function invalid(reason: string): Error {
  return new FMOD_SETTINGS_INVALID_OPTION('encryption.keys', reason)
}
