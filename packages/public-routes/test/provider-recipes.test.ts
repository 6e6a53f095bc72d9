/** The recipes for providers in examples/providers, from a missing session to a permission. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Caller, defineModule, modules } from '@fastify-modular/core'
import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import Fastify, { type FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'
import { ran } from './support/declared-application.ts'

const recipes = fileURLToPath(new URL('../../../examples/providers/', import.meta.url))
const secret = 'a secret for tests, long enough for every one of them'

type Recipe = (app: FastifyInstance, options: object) => Promise<void>

/** The export of a recipe, from a copy in this package, so that its packages are found. */
async function load(t: Test, file: string): Promise<Recipe> {
  const folder = mkdtempSync(join(dirname(fileURLToPath(import.meta.url)), 'recipes-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(recipes, folder, { recursive: true })
  const exports: Record<string, Recipe> = await import(pathToFileURL(join(folder, file)).href)
  const [recipe] = Object.values(exports)
  if (recipe === undefined) throw new Error(`${file} exports nothing`)
  return recipe
}

async function start(t: Test, file: string, options: object): Promise<FastifyInstance> {
  const app = Fastify()
  t.teardown(() => app.close())
  const recipe = await load(t, file)
  await recipe(app, options)
  const permissions = { 'Notes.Edit': 'Edit notes', 'Notes.Import': {} }
  await app.register(modules, { modules: [defineModule({ name: 'notes', permissions })] })
  app.get('/me', { config: { access: 'signed-in' } }, async ({ caller }) => caller?.id)
  app.get('/edit', { config: { access: 'Notes.Edit' } }, ran)
  app.get('/import', { config: { access: 'Notes.Import' } }, ran)
  await app.ready()
  return app
}

const statusesOf = (app: FastifyInstance, headers: Record<string, string> = {}) =>
  Promise.all(['/me', '/edit', '/import'].map(async (url) => (await app.inject({ url, headers })).statusCode))

test('each recipe has at most 60 lines', async (t) => {
  const files = readdirSync(recipes).filter((name) => name.endsWith('.mjs'))
  t.equal(files.length, 3)
  for (const name of files) t.ok(readFileSync(join(recipes, name), 'utf8').split('\n').length <= 60, name)
})

test('@fastify/session: 401 without a session, then what the caller may do now, and 401 after signing out', async (t) => {
  let alice: Caller = { id: 'alice', permissions: ['Notes.Edit'] }
  const app = await start(t, 'session.mjs', {
    secret,
    check: async ({ password }: { password: string }) => (password === 'right' ? alice : null),
    find: async (id: string) => (id === alice.id ? alice : null),
  })
  t.same(await statusesOf(app), [401, 401, 401])
  const refused = await app.inject('/me')
  t.match(refused.headers['www-authenticate'], /^Cookie /, 'a browser session is no bearer token')
  const signIn = (password: string) => app.inject({ method: 'POST', url: '/login', payload: { password } })
  t.equal((await signIn('wrong')).statusCode, 401)
  const { cookies } = await signIn('right')
  const cookie = `${cookies[0]?.name}=${cookies[0]?.value}`
  t.same(await statusesOf(app, { cookie }), [200, 200, 403])
  alice = { id: 'alice' }
  t.same(await statusesOf(app, { cookie }), [200, 403, 403], 'a right that is taken back is gone')
  const foreign = { cookie, 'sec-fetch-site': 'cross-site' }
  t.equal((await app.inject({ method: 'POST', url: '/logout', headers: foreign })).statusCode, 403)
  t.equal((await app.inject({ method: 'POST', url: '/logout', headers: { cookie } })).statusCode, 204)
  t.same(await statusesOf(app, { cookie }), [401, 401, 401])
})

test('@fastify/jwt: bearer tokens, forged ones are anonymous', async (t) => {
  const app = await start(t, 'jwt.mjs', { secret })
  const { jwt } = app as unknown as { jwt: { sign(payload: object, options?: object): string } }
  const token = jwt.sign({ sub: 'alice', permissions: ['Notes.Edit'] })
  t.same(await statusesOf(app, { authorization: `Bearer ${token}` }), [200, 200, 403])
  for (const authorization of ['', 'Bearer x', `Bearer ${token}x`, 'Basic YTpi']) {
    t.same(await statusesOf(app, { authorization }), [401, 401, 401], authorization)
  }
})

test('better-auth: signing up gives a session, and the session a caller', async (t) => {
  const auth = betterAuth({
    secret,
    baseURL: 'http://localhost:80',
    database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
    emailAndPassword: { enabled: true },
    telemetry: { enabled: false },
  })
  const app = await start(t, 'better-auth.mjs', {
    auth,
    origin: 'http://localhost:80',
    permissionsOf: async () => ['Notes.Edit'],
  })
  t.same(await statusesOf(app), [401, 401, 401])
  const signUp = await app.inject({
    method: 'POST',
    url: '/api/auth/sign-up/email',
    headers: { host: 'localhost:80', origin: 'http://localhost:80', 'sec-fetch-site': 'same-origin' },
    payload: { name: 'Alice', email: 'alice@example.com', password: 'a long password' },
  })
  t.equal(signUp.statusCode, 200, signUp.body)
  const cookie = signUp.cookies.map(({ name, value }) => `${name}=${encodeURIComponent(value)}`).join('; ')
  t.same(await statusesOf(app, { cookie }), [200, 200, 403])
})
