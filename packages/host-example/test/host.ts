/** The application as a process of its own, and people who use it. */
import { scryptSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BrowserContext } from 'playwright-core'
import { spawnApp, type SpawnedApp, spawnNode } from '@fastify-modular/test-support/spawn-app'
import { openSqlite } from '#src/database/sqlite.js'
import { demoAccounts } from '#src/first-accounts.js'

/** The built entry of the application. */
export const entry = new URL('../dist/main.js', import.meta.url)

/** What a test hands over so that its process goes with it; tap's `t` is one. */
export interface Teardown {
  teardown(callback: () => Promise<unknown>): unknown
}

/** A request of somebody; objects are sent as JSON. */
export interface Ask {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; undefined when it is none. */
  readonly json: any // oxlint-disable-line typescript/no-explicit-any -- each test says what it expects
}

/** Somebody with or without a session. */
export interface Person {
  ask(path: string, ask?: Ask): Promise<Answer>
  /** The value of `Cookie`. */
  readonly cookie: string
  /** Gives the session to this browser. */
  enter(browser: Pick<BrowserContext, 'addCookies'>): Promise<void>
}

export interface Host extends SpawnedApp {
  readonly anonymous: Person
  /** Signs in with the demo password, or another one. */
  signIn(user: string, password?: string): Promise<Person>
}

/** Starts the application on a free port, with a SQLite file that has the demo accounts alone unless `env` names a database. */
export async function startHost(t: Teardown, env: Readonly<Record<string, string>> = {}): Promise<Host> {
  const database = env['DATABASE_URL'] ?? (await databaseWithAccounts(t)).DATABASE_URL
  const app = await spawnApp(entry, {
    env: {
      NODE_ENV: undefined,
      HOST: undefined,
      SM_AUTH_PUBLIC_PATHS: undefined,
      PORT: '0',
      ...env,
      DATABASE_URL: database,
    },
  })
  t.teardown(() => app.stop())
  return {
    ...app,
    anonymous: person(app.url, ''),
    signIn: (user, password = `demo-${user}`) => signIn(app.url, user, password),
  }
}

/**
 * A SQLite file with the demo accounts, for several hosts one after the other. Passwords are hashed at the least cost, which a
 * hash says itself: hashing is most of a first boot, and of signing in.
 */
export async function databaseWithAccounts(t: Teardown): Promise<{ file: string; DATABASE_URL: string }> {
  const file = join(await tempFolder(t), 'host.sqlite')
  const database = await openSqlite(file)
  for (const caller of demoAccounts) {
    const hash = scryptSync(`demo-${caller.id}`, 'salt', 32, { N: 2, r: 8, p: 1 }).toString('base64url')
    await database.query('insert into accounts (id, hash, caller) values ($1, $2, $3)', [
      caller.id,
      `2.1.salt.${hash}`,
      JSON.stringify(caller),
    ])
  }
  await database.close()
  return { file, DATABASE_URL: `sqlite:${file}` }
}

/** The command line of the example on this database: a function that runs it, and returns what it printed. */
export function commandLine(DATABASE_URL: string) {
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  const env = { DATABASE_URL, NODE_ENV: '', HOST: '', TRUST_PROXY: '', LOG_LEVEL: 'error' }
  return async (line: string) => {
    const file = join(cwd, 'node_modules/@fastify-modular/cli/dist/main.js')
    const command = spawnNode(file, { args: line.split(' '), cwd, env })
    const { code } = await command.exited
    return { code, log: command.log() }
  }
}

/** A folder that goes with the test. */
export async function tempFolder(t: Teardown): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'host-example-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** The name and value of the first cookie that an answer sets, as `Cookie` carries it back. */
export function cookieOf(answer: Answer): string {
  return answer.headers.getSetCookie()[0]?.split(';')[0] ?? ''
}

/** A form as browsers send it. */
export const formOf = (fields: Record<string, string>, headers: Record<string, string> = {}): Ask => ({
  method: 'POST',
  body: new URLSearchParams(fields).toString(),
  headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
})

/** From an address of its own: sign-ins are limited by address. */
let addresses = 1

/** Returns the status, and what `Cookie` carries from now on. */
async function sendSignIn(url: string, user: string, password: string) {
  addresses++
  const sent = request(`${url}/login`, {
    method: 'POST',
    localAddress: `127.1.${addresses >> 8}.${addresses & 255}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  sent.end(new URLSearchParams({ user, password }).toString())
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  answer.resume()
  const [cookie = ''] = answer.headers['set-cookie'] ?? []
  return { status: answer.statusCode, cookie: cookie.split(';')[0] ?? '' }
}

async function signIn(url: string, user: string, password: string): Promise<Person> {
  const { status, cookie } = await sendSignIn(url, user, password)
  if (status !== 303) throw new Error(`Signing in as ${user} failed: ${status}`)
  return person(url, cookie)
}

/** Somebody who sends this cookie. */
export function person(url: string, cookie: string): Person {
  return {
    cookie,
    async enter(browser) {
      const [name = '', value = ''] = cookie.split('=')
      await browser.addCookies([{ name, value, url }])
    },
    async ask(path, { method = 'GET', body, headers = {} } = {}) {
      const isText = typeof body === 'string'
      const response = await fetch(url + path, {
        method,
        redirect: 'manual',
        headers: {
          ...(cookie !== '' && { cookie }),
          ...(body !== undefined && !isText && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
        signal: AbortSignal.timeout(60_000),
      })
      // A stream has no end.
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
      const text = isStream ? '' : await response.text()
      if (isStream) await response.body?.cancel()
      return { status: response.status, headers: response.headers, text, json: parse(text) }
    },
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
