/** Sensitive values at rest: AES-256-GCM, bound to their row, under a ring of keys. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { isUint8Array } from 'node:util/types'
import { FMOD_CORE_INVALID_OPTION } from '@fastify-modular/core/internal'
import type { RowId } from '../store/store.ts'

/** One key of the ring. */
export interface EncryptionKey {
  /** Names the key inside the envelopes: letters, digits, `_` and `-`. */
  readonly id: string
  /** 32 random bytes, or their base64 (44 characters, with padding) or hexadecimal text. */
  readonly key: Uint8Array | string
}

const version = 'v1'
const environment = 'SM_SETTINGS_KEYS'

/** Encrypts and decrypts values. */
export class Encryption {
  readonly #ring = new Map<string, Buffer>()
  /** The identifier of the key that encrypts, or null when none is configured: values then stay plain. */
  readonly activeKeyId: string | null

  /**
   * With the keys of the option, or of `SM_SETTINGS_KEYS` (a JSON array); the first key is the active one.
   * @throws {FMOD_CORE_INVALID_OPTION} naming positions only: what stands there may be a key, in whatever member
   */
  constructor(keys?: readonly EncryptionKey[]) {
    const source = keys ? 'encryption.keys' : environment
    for (const [index, entry] of (keys ?? keysFromEnvironment()).entries()) {
      const { id, bytes } = readKey(entry, (reason) => invalid(source, `its key ${index + 1} ${reason}`))
      if (this.#ring.has(id)) throw invalid(source, `its key ${index + 1} has the id of an earlier one`)
      this.#ring.set(id, bytes)
    }
    const [first = null] = this.#ring.keys()
    this.activeKeyId = first
  }

  /** Whether the ring holds a key. */
  knows(keyId: string): boolean {
    return this.#ring.has(keyId)
  }

  /** The identifier of the key that an envelope names. */
  keyIdOf(envelope: string): string {
    return envelope.split('.', 2)[1] ?? ''
  }

  /** An envelope `v1.<key id>.<nonce>.<tag>.<ciphertext>` of base64url parts. */
  encrypt(id: RowId, text: string): string {
    const key = this.#ring.get(this.activeKeyId ?? '')
    if (!key) throw new Error('no key is configured')
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(address(id))
    const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    const parts = [nonce, cipher.getAuthTag(), encrypted].map((part) => part.toString('base64url'))
    return [version, this.activeKeyId, ...parts].join('.')
  }

  /** The text of an envelope that was encrypted for exactly this row. @throws {Error} wrong key, wrong row, or altered */
  decrypt(id: RowId, envelope: string): string {
    const [format, keyId = '', ...parts] = envelope.split('.')
    const key = this.#ring.get(keyId)
    if (format !== version || !key) throw new Error(`unknown key "${keyId.slice(0, 64)}"`)
    const [nonce, tag, encrypted, ...more] = parts.map(readPart)
    if (!nonce || !tag || !encrypted || more.length > 0) throw new Error('not an envelope')
    const cipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 })
    cipher.setAAD(address(id)).setAuthTag(tag)
    return Buffer.concat([cipher.update(encrypted), cipher.final()]).toString('utf8')
  }
}

/** Accepts only the spelling of `encrypt`: Node's decoder skips characters outside the alphabet. */
function readPart(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.toString('base64url') !== text) throw new Error('not an envelope')
  return bytes
}

/** An envelope copied to another row fails its authentication. JSON, so that no two rows share an address. */
function address({ scope, owner, key }: RowId): Buffer {
  return Buffer.from(JSON.stringify([scope, owner, key]))
}

type Refuse = (reason: string) => Error

function readKey(entry: unknown, refuse: Refuse): { readonly id: string; readonly bytes: Buffer } {
  if (typeof entry !== 'object' || entry === null || !('id' in entry) || !('key' in entry))
    throw refuse('must be an object { id, key }')
  const { id, key } = entry
  if (typeof id !== 'string' || !/^[\w-]{1,64}$/.test(id))
    throw refuse('must have an id of 1–64 of A–Z, a–z, 0–9, _ and -')
  // The id is part of every envelope and of messages.
  if (/^(?:[0-9a-f]{64}|[\w-]{43})$/i.test(id))
    throw refuse('has an id as long as a key: give it a short name')
  const bytes = toBytes(key)
  if (bytes?.length !== 32)
    throw refuse(
      'must be 32 bytes: a Uint8Array, their base64 (44 characters, with padding) or their hexadecimal text',
    )
  if (bytes.every((byte) => byte === bytes[0]))
    throw refuse('is one byte 32 times, not a random key: make one with "openssl rand -base64 32"')
  return { id, bytes }
}

/** Undefined unless the text spells bytes exactly: a lenient decoder would turn a misprint into another key. */
function toBytes(key: unknown): Buffer | undefined {
  if (isUint8Array(key)) return Buffer.from(key)
  if (typeof key !== 'string') return undefined
  if (/^[0-9a-f]{64}$/i.test(key)) return Buffer.from(key, 'hex')
  const bytes = Buffer.from(key, 'base64')
  return bytes.toString('base64') === key ? bytes : undefined
}

function keysFromEnvironment(): readonly unknown[] {
  const text = process.env[environment]
  if (!text) return []
  try {
    const keys: unknown = JSON.parse(text)
    if (Array.isArray(keys)) return keys
  } catch {
    // The text may hold keys: nothing of it goes into the message.
  }
  throw invalid(environment, 'it must be a JSON array of { "id", "key" }')
}

function invalid(source: string, reason: string): Error {
  return new FMOD_CORE_INVALID_OPTION('the settings plugin', `${source} cannot be used: ${reason}`)
}
