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

/** A cookie that the browser sends over TLS only, and that no other host of the domain can set (`__Host-`). */
const secure = { name: '__Host-session', secure: true } as const

/** For a demonstration without TLS. */
const plain = { name: 'session', secure: false } as const

/** `alwaysSecure` where every request travels over TLS; otherwise the protocol of each request decides. */
export function createSessionCookie(alwaysSecure: boolean): SessionCookie {
  const kindOf = ({ protocol }: FastifyRequest) => (alwaysSecure || protocol === 'https' ? secure : plain)
  const attributes: CookieSerializeOptions = { path: '/', httpOnly: true, sameSite: 'lax' }
  return {
    read(request) {
      const { cookie } = request.headers
      const signed =
        cookie === undefined ? undefined : request.server.parseCookie(cookie)[kindOf(request).name]
      return signed === undefined ? null : request.unsignCookie(signed).value
    },
    write(reply, id) {
      const { name, secure } = kindOf(reply.request)
      reply.setCookie(name, id, { ...attributes, secure, signed: true, maxAge: sessionLifetime / 1000 })
    },
    clear(reply) {
      const { name, secure } = kindOf(reply.request)
      reply.clearCookie(name, { ...attributes, secure })
    },
  }
}
