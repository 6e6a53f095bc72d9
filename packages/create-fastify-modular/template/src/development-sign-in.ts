/** Accounts for development. Before anybody else uses the application, replace them by your own: users of a database, OpenID Connect. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Caller } from '@fastify-modular/core'
import type { SessionStore } from '@fastify/session'
import type { Session } from 'fastify'
import type { SignIn } from './sign-in.ts'

const accounts: readonly Caller[] = [
  { id: 'admin', name: 'The administrator', isAdmin: true },
  { id: 'writer', name: 'A writer', permissions: ['Notes.Write'] },
  { id: 'reader', name: 'A reader' },
]

interface DevelopmentSignIn {
  readonly signIn: SignIn
  readonly sessions: SessionStore
  readonly password: string
  readonly users: readonly string[]
}

interface Surroundings {
  readonly trustProxy: string
  /** Called where NODE_ENV is production, or others than this machine can reach the application. */
  readonly report: (problem: string) => void
}

/** All accounts have one password, DEVELOPMENT_PASSWORD or a random one. @throws what `report` throws */
export function developmentSignIn(
  env: NodeJS.ProcessEnv,
  { trustProxy, report }: Surroundings,
): DevelopmentSignIn {
  // A proxy brings everybody to a loopback address.
  const isLoopback = /^(?:localhost|::1|127(?:\.\d{1,3}){3})$/.test(env['HOST'] || 'localhost')
  if (env['NODE_ENV'] === 'production' || !isLoopback || trustProxy) {
    report(
      'src/development-sign-in.ts is not for production, not behind a proxy (TRUST_PROXY), and for no HOST but a ' +
        'loopback address. Write a SignIn of your own and use it in src/build.ts.',
    )
  }
  const password = env['DEVELOPMENT_PASSWORD'] || randomBytes(12).toString('base64url')
  const find = async (user: string) => accounts.find(({ id }) => id === user) ?? null
  return {
    signIn: { check: async (user, given) => (isEqual(given, password) ? find(user) : null), find },
    sessions: fileSessions(),
    password,
    users: accounts.map(({ id }) => id),
  }
}

/** In a time that does not depend on the texts. */
function isEqual(a: string, b: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(a), hash(b))
}

/** Sessions in a file: they outlive the restart that `npm run dev` makes for each file that is saved. */
function fileSessions(): SessionStore {
  const file = 'data/sessions.json'
  const stored = existsSync(file) ? parseSessions(readFileSync(file, 'utf8')) : []
  const sessions = new Map(stored.filter(([, { cookie }]) => new Date(cookie.expires ?? 0) > new Date()))
  const save = () => {
    mkdirSync('data', { recursive: true })
    writeFileSync(`${file}.new`, JSON.stringify([...sessions]), { mode: 0o600 })
    renameSync(`${file}.new`, file) // a process that is stopped leaves no half of it
  }
  return {
    get: (id, done) => done(null, sessions.get(id)),
    set(id, session, done) {
      sessions.set(id, session)
      save()
      done()
    },
    destroy(id, done) {
      sessions.delete(id)
      save()
      done()
    },
  }
}

/** None where the file is damaged: people sign in again. */
function parseSessions(text: string): [string, Session][] {
  try {
    return JSON.parse(text)
  } catch {
    return []
  }
}
