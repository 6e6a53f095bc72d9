/** The signed cookie that carries a session's identifier. */
import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sessionLifetime } from './sessions.ts'

export interface SessionCookie {
  /** The identifier, or null without a cookie or with a signature that is not ours. */
  read(request: FastifyRequest): string | null
  write(reply: FastifyReply, id: string): void
  clear(reply: FastifyReply): void
}

/** `isSecure`: the browser sends it over TLS only, and no other host of the domain can set it (`__Host-`). */
export function createSessionCookie(isSecure: boolean): SessionCookie {
  const name = isSecure ? '__Host-session' : 'session'
  const attributes: CookieSerializeOptions = { path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure }
  return {
    read(request) {
      const { cookie } = request.headers
      const signed = cookie === undefined ? undefined : request.server.parseCookie(cookie)[name]
      return signed === undefined ? null : request.unsignCookie(signed).value
    },
    write(reply, id) {
      reply.setCookie(name, id, { ...attributes, signed: true, maxAge: sessionLifetime / 1000 })
    },
    clear(reply) {
      reply.clearCookie(name, attributes)
    },
  }
}
