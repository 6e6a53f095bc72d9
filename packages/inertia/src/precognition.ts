/** Precognition: a form asks, while it is filled in, whether its input would be taken. */
import { addVary, safeRead } from '@fastify-modular/core/internal'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { listOf } from './props.ts'

/**
 * Answers requests with the header `Precognition: true` in place of the handler of their route, behind its schema and its own
 * preHandler hooks: 204, or 422 with the errors of the fields that they ask for. All other requests are answered as before.
 */
export function addPrecognition(app: FastifyInstance): void {
  app.addHook('onRequest', function markAnswer(request, reply, done) {
    if (asksOnly(request)) addVary(reply.header('precognition', 'true'), 'Precognition')
    done()
  })
  app.addHook('onRoute', function answerForHandler(route) {
    route.preHandler = [...[route.preHandler ?? []].flat(), acceptInput]
  })
  app.addHook('onSend', function refuseInput(request, reply, payload, done) {
    const errors = asksOnly(request) ? errorsOf(reply, payload) : null
    if (errors === null) return done(null, payload)
    const only = listOf(request.headers['precognition-validate-only'])
    const isAsked = (field: string) => only.some((name) => `${field}.`.startsWith(`${name}.`))
    const asked = Object.entries(errors).filter(([field]) => only.length === 0 || isAsked(field))
    if (asked.length === 0) return done(null, accept(reply))
    reply.code(422).header('content-type', 'application/json; charset=utf-8')
    done(null, JSON.stringify({ errors: Object.fromEntries(asked) }))
  })
}

function asksOnly({ headers }: FastifyRequest): boolean {
  return headers['precognition'] === 'true'
}

/** Stands in for the handler. A route with `attachValidation` leaves it to its handler to refuse. */
function acceptInput(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
  if (!asksOnly(request)) return done()
  if (request.validationError) return done(request.validationError)
  reply.send(accept(reply))
}

function accept(reply: FastifyReply): null {
  reply.code(204).header('precognition-success', 'true')
  return null
}

/** The errors by field in a problem about input; null in any other answer. */
function errorsOf(reply: FastifyReply, payload: unknown): object | null {
  const isAboutInput = reply.statusCode === 400 || reply.statusCode === 422
  const type = String(reply.getHeader('content-type'))
  if (!isAboutInput || !type.startsWith('application/problem+json') || typeof payload !== 'string')
    return null
  const errors = safeRead(JSON.parse(payload), 'errors')
  return typeof errors === 'object' && errors !== null && Object.keys(errors).length > 0 ? errors : null
}
