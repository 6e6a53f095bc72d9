/** Accounts for development. Before anybody else uses the application, replace them by your own: users of a database, OpenID Connect. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Caller } from '@fastify-modular/core'
import type { SignIn } from './sign-in.ts'

const accounts: readonly Caller[] = [
  { id: 'admin', name: 'The administrator', isAdmin: true },
  { id: 'writer', name: 'A writer', permissions: ['Notes.Write'] },
  { id: 'reader', name: 'A reader' },
]

interface DevelopmentSignIn {
  readonly signIn: SignIn
  readonly password: string
  readonly users: readonly string[]
}

/**
 * All accounts have one password, DEVELOPMENT_PASSWORD or a random one.
 * @throws {Error} NODE_ENV is production, or others than this machine can reach the application
 */
export function developmentSignIn(env: NodeJS.ProcessEnv): DevelopmentSignIn {
  const isLoopback = /^(?:localhost|::1|127(?:\.\d{1,3}){3})$/.test(env['HOST'] || 'localhost')
  if (env['NODE_ENV'] === 'production' || !isLoopback) {
    throw new Error(
      'src/development-sign-in.ts is not for production, and for no HOST but a loopback address. ' +
        'Write a SignIn of your own and use it in src/main.ts.',
    )
  }
  const password = env['DEVELOPMENT_PASSWORD'] || randomBytes(12).toString('base64url')
  return {
    signIn: async (user, given) =>
      isEqual(given, password) ? (accounts.find(({ id }) => id === user) ?? null) : null,
    password,
    users: accounts.map(({ id }) => id),
  }
}

/** In a time that does not depend on the texts. */
function isEqual(a: string, b: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(a), hash(b))
}
