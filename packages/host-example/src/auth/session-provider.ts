/** Tells the gate who makes a request. */
import type { AuthProvider } from '@fastify-modular/public-routes'
import type { SessionCookie } from './session-cookie.ts'
import type { SessionStore } from './sessions.ts'

/** The provider of cookie sessions. A request without a cookie of ours costs no query. */
export function createSessionProvider(sessions: SessionStore, cookie: SessionCookie): AuthProvider {
  return {
    loginUrl: '/login',
    authenticate(request) {
      const id = cookie.read(request)
      return id === null ? null : sessions.find(id)
    },
  }
}
