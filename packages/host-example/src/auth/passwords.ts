/** Password hashes: scrypt, salted, with their cost written beside them. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { TooManyRequestsException } from '@fastify-modular/core'

/** 16 MiB and about a tenth of a second for each attempt (OWASP's parameters for this amount of memory). */
const cost = { N: 2 ** 14, r: 8, p: 5 }

/** Attempts that may wait for a hash at once; more would keep the threads from everything else. */
const maxPending = 32
let pending = 0

/** `scrypt$N$r$p$salt$hash`, salt and hash in base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const key = await derive(password, salt, cost)
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), key.toString('base64url')].join('$')
}

/**
 * Whether the password belongs to the hash. For an unknown account pass `undefined`: it takes as long as a wrong
 * password, against timing attacks that find out which accounts exist.
 * @throws {TooManyRequestsException} too many attempts wait already
 */
export async function verifyPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [, N, r, p, salt = '', hash = ''] = (stored ?? (await hashOfNobody())).split('$')
  const expected = Buffer.from(hash, 'base64url')
  const key = await derive(password, Buffer.from(salt, 'base64url'), {
    N: Number(N),
    r: Number(r),
    p: Number(p),
  })
  return timingSafeEqual(key, expected) && stored !== undefined
}

let nobody: Promise<string> | undefined

/** Made once, of a random password. Call it at boot, so that no attempt pays for it. */
export function hashOfNobody(): Promise<string> {
  nobody ??= hashPassword(randomBytes(32).toString('base64url'))
  return nobody
}

async function derive(password: string, salt: Buffer, options: typeof cost): Promise<Buffer> {
  if (pending >= maxPending) throw new TooManyRequestsException(1)
  pending += 1
  try {
    return await new Promise((resolve, reject) => {
      scrypt(password, salt, 32, options, (error, key) => (error ? reject(error) : resolve(key)))
    })
  } finally {
    pending -= 1
  }
}
