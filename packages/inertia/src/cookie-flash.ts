/** A flash store in an encrypted cookie: nothing to keep on the server, nothing to read on the client. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { ErrorMessages } from '@fastify-modular/core'
import { safeRead } from '@fastify-modular/core/internal'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FlashEntry, FlashStore } from './flash.ts'
import { errorCodes } from './misuse-errors.ts'

interface CookieFlashOptions {
  /** At least 32 characters. The first of several encrypts, and all decrypt, so that secrets can be rotated. */
  readonly secret: string | readonly string[]
}

/** What this store uses of @fastify/cookie. */
interface SetsCookies {
  setCookie(name: string, value: string, options: object): unknown
  clearCookie(name: string, options: object): unknown
}

/** Browsers keep 4,096 bytes of a cookie, its name and attributes included. */
const maxLength = 3500

/**
 * Keeps entries in a cookie (AES-256-GCM), through @fastify/cookie. What does not fit is cut: messages that are shown once go
 * last, one general message in place of many errors.
 * @throws {FMOD_INERTIA_INVALID_FLASH} a secret is too short, or, when ready, @fastify/cookie is not registered
 */
export function cookieFlash({ secret }: CookieFlashOptions): FlashStore {
  const secrets = [secret].flat()
  if (secrets.length === 0 || secrets.some((each) => typeof each !== 'string' || each.length < 32))
    throw new errorCodes.FMOD_INERTIA_INVALID_FLASH('each secret of cookieFlash needs 32 characters or more')
  const keys = secrets.map((each) =>
    Buffer.from(hkdfSync('sha256', each, '', 'fastify-modular inertia flash', 32)),
  )
  const [key = Buffer.alloc(0)] = keys

  return {
    put(request, entry, reply) {
      const name = nameFor(request)
      if (entry === null) {
        cookiesOf(reply).clearCookie(name, attributesFor(request))
        return
      }
      const { flash: _, ...rest } = entry
      const errors = entry.errors && { errors: { form: ErrorMessages.ValidationError } }
      const candidates = [entry, { ...entry, ...errors }, { ...rest, ...errors }]
      const texts = candidates.map((each) => encrypt(JSON.stringify(each), key))
      const value = texts.find(({ length }) => length <= maxLength) ?? ''
      if (value !== texts[0])
        request.log.warn('errors or messages for the next page were cut to fit a cookie')
      cookiesOf(reply).setCookie(name, value, { ...attributesFor(request), maxAge: 60 })
    },
    get(request) {
      const value = safeRead(safeRead(request, 'cookies'), nameFor(request))
      return typeof value === 'string' ? decrypt(value, keys) : null
    },
    check(app) {
      if (!app.hasReplyDecorator('setCookie'))
        throw new errorCodes.FMOD_INERTIA_INVALID_FLASH(
          'cookieFlash needs @fastify/cookie, registered before inertia',
        )
    },
  }
}

function cookiesOf(reply: FastifyReply): SetsCookies {
  return reply as unknown as SetsCookies // `check` has found the plugin
}

/** Only a host itself, over TLS, can set a cookie with that prefix. */
function nameFor({ protocol }: FastifyRequest): string {
  return protocol === 'https' ? '__Host-inertia-flash' : 'inertia-flash'
}

function attributesFor({ protocol }: FastifyRequest): object {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: protocol === 'https' }
}

function encrypt(text: string, key: Buffer): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  const sealed = Buffer.concat([cipher.update(text), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')
}

/** The entry, or null where no key opens the value: it is not ours, or was changed. */
function decrypt(value: string, keys: readonly Buffer[]): FlashEntry | null {
  const bytes = Buffer.from(value, 'base64url')
  if (value.length > maxLength || bytes.length < 29) return null
  for (const key of keys) {
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 })
      decipher.setAuthTag(bytes.subarray(12, 28))
      return JSON.parse(String(Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()])))
    } catch {
      continue // of another key
    }
  }
  return null
}
