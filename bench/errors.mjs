// P4, P5 without sockets: what the answer to a failure costs in process, against Fastify's own error path.
import { ForbiddenException, NotFoundException, ValidationException } from '@fastify-modular/core'
import { errors } from '@fastify-modular/errors'
import Fastify from 'fastify'
import { requestTo } from './support/in-process.mjs'
import { measure, report } from './support/measure.mjs'

/** What a handler throws, and what one throws that has Fastify alone. */
const failures = {
  '/missing': [() => new NotFoundException('Thing', 42), 404, 'Thing 42 was not found.'],
  '/forbidden': [() => new ForbiddenException(), 403, 'You may not do this.'],
  '/invalid': [() => new ValidationException({ name: ['is required'] }), 400, 'name is required'],
  '/defect': [() => new Error('defect'), 500, 'defect'],
}
const titles = {
  '/missing': 'P4 domain miss, thrown',
  '/forbidden': 'a refusal, thrown',
  '/invalid': 'invalid input, thrown',
  '/defect': 'a defect (stack kept)',
  '/nope': 'P5 unmatched',
}
const goals = { '/missing': 1.2, '/nope': 1 }

const bare = Fastify()
const ours = Fastify()
await ours.register(errors, { errorPage: false })
for (const [path, [make, statusCode, message]] of Object.entries(failures)) {
  bare.get(path, () => {
    throw Object.assign(new Error(message), { statusCode })
  })
  ours.get(path, () => {
    throw make()
  })
}
await Promise.all([bare.ready(), ours.ready()])

/** Fastify with our answer to an unmatched request written by hand: what that head and body cost at least. */
const byHand = Fastify()
const notFound = '"title":"Not Found","status":404,"detail":"The requested resource was not found."'
const asItIs = (text) => text
byHand.setNotFoundHandler((request, reply) => {
  reply
    .code(404)
    .headers({ vary: 'Accept, X-Inertia', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    .type('application/problem+json')
    .serializer(asItIs)
    .send(
      `{"type":"about:blank","code":"NOT_FOUND",${notFound},"instance":"${request.url}","requestId":"${request.id}"}`,
    )
})
await byHand.ready()

const rows = []
for (const [path, what] of Object.entries(titles)) {
  const request = { path, headers: { accept: 'application/json' }, status: failures[path]?.[1] ?? 404 }
  const apps = path === '/nope' ? { bare, ours, byHand } : { bare, ours }
  const ns = await measure(
    Object.fromEntries(Object.entries(apps).map(([name, app]) => [name, requestTo(app, request)])),
  )
  const rowOf = (title, own, goal) => ({
    what: title,
    'Fastify ns': Math.round(ns.bare),
    'ours ns': Math.round(own),
    'Fastify over ours': (ns.bare / own).toFixed(2),
    goal,
  })
  rows.push(rowOf(what, ns.ours, goals[path] ?? ''))
  if (ns.byHand !== undefined) rows.push(rowOf('P5 the same bytes by hand, no plugin', ns.byHand, ''))
}
report('P4 and P5 in process', rows)
