/** Tells an anonymous caller to sign in, in the way that its kind of client understands (decision 38). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { challengeOf, type AuthProvider } from '../../provider.ts'
import type { Classify, ClientKind } from './classify.ts'
import { forbidCaching, sendProblem, unauthorized } from './problem.ts'
import { isExternal, loginLocation } from './return-to.ts'

/** Answers a protected request of an anonymous caller. */
export type Challenge = (request: FastifyRequest, reply: FastifyReply) => void

export function createChallenge(provider: AuthProvider, classify: Classify): Challenge {
  const { loginUrl } = provider
  return function challenge(request, reply) {
    const kind: ClientKind = loginUrl === undefined ? 'api' : classify(request)
    if (loginUrl === undefined || kind === 'api') {
      reply.header('www-authenticate', headerValue(challengeOf(provider, request)))
      sendProblem(request, reply, unauthorized)
    } else if (kind === 'inertia' && isExternal(loginUrl)) {
      // A fetch cannot follow a redirect to another site: the client visits it instead.
      sendWithoutBody(reply.code(409).header('x-inertia-location', loginUrl))
    } else {
      // After a write, 303 turns the next request into a GET; 302 would repeat PUT, PATCH and DELETE.
      const isRead = request.method === 'GET' || request.method === 'HEAD'
      sendWithoutBody(reply.code(isRead ? 302 : 303).header('location', loginLocation(request, loginUrl)))
    }
  }
}

/** Says that it has no body, which Fastify adds for HEAD on routes alone: that would tell them from missing ones. */
function sendWithoutBody(reply: FastifyReply): void {
  forbidCaching(reply)
  reply.header('content-length', '0').send()
}

/** A provider's text becomes a header only if it is one. */
function headerValue(challenge: unknown): string {
  return typeof challenge === 'string' && /^[\x20-\x7e]+$/.test(challenge) ? challenge : 'Bearer'
}
