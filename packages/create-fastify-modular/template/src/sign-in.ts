/** Sessions in a cookie: the provider that the gate asks for the caller, and the routes to sign in and out. */
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import session from '@fastify/session'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Caller } from '@fastify-modular/core'
import { type AuthProvider, safeReturnTo } from '@fastify-modular/public-routes'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface Session {
    caller?: Caller
  }
}

/** Returns the caller of valid credentials, or null. */
export type SignIn = (user: string, password: string) => Promise<Caller | null>

/** Registers what the provider needs: sessions in the memory of this process, gone with it. */
export async function addSessions(app: FastifyInstance, secret: string): Promise<void> {
  await app.register(cookie)
  await app.register(session, {
    secret,
    saveUninitialized: false,
    cookie: { secure: 'auto', sameSite: 'lax' },
  })
}

/** Hooks of `addSessions`, which run before the gate. */
export const sessionHooks: readonly string[] = ['fastifyCookieHandler', 'handleSession']

export const sessionProvider: AuthProvider = {
  loginUrl: '/login',
  authenticate: ({ session }) => session.get('caller') ?? null,
}

const ReturnTo = Type.Object({ returnTo: Type.Optional(Type.String()) })
const Credentials = Type.Object({
  user: Type.String({ maxLength: 100 }),
  password: Type.String({ maxLength: 200 }),
})

/** `/login` and `/logout`. The form parser stays inside: no other route accepts forms. */
export const signInRoutes: FastifyPluginAsyncTypebox<{ signIn: SignIn }> = async (app, { signIn }) => {
  await app.register(formbody)

  app.get(
    '/login',
    { config: { access: 'public' }, schema: { querystring: ReturnTo } },
    async ({ query }, reply) => reply.type('text/html').send(loginPage(query.returnTo)),
  )

  app.post(
    '/login',
    { config: { access: 'public' }, bodyLimit: 10_240, schema: { querystring: ReturnTo, body: Credentials } },
    async (request, reply) => {
      const { user, password } = request.body
      const caller = await signIn(user, password)
      if (caller === null) {
        const page = loginPage(request.query.returnTo, 'The user or the password is wrong.')
        return reply.code(401).type('text/html').send(page)
      }
      await request.session.regenerate() // against session fixation
      request.session.set('caller', caller)
      return reply.redirect(safeReturnTo(request.query.returnTo) ?? '/', 303)
    },
  )

  app.post('/logout', { config: { access: 'signed-in' } }, async (request, reply) => {
    await request.session.destroy()
    return reply.redirect('/', 303)
  })
}

function loginPage(returnTo = '/', problem = ''): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>Sign in</title>
<style>body { font: 1rem/1.6 system-ui; margin: 4rem auto; max-width: 20rem } input, button { display: block; font: inherit; width: 100%; box-sizing: border-box; margin-bottom: 1rem; padding: .4rem }</style>
<h1>Sign in</h1>
<p role="alert">${problem}</p>
<form method="post" action="/login?returnTo=${encodeURIComponent(returnTo)}">
  <label>User <input name="user" autocomplete="username" required autofocus></label>
  <label>Password <input name="password" type="password" autocomplete="current-password" required></label>
  <button>Sign in</button>
</form>
</html>
`
}
