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

const rows = []
for (const [path, what] of Object.entries(titles)) {
  const request = { path, headers: { accept: 'application/json' }, status: failures[path]?.[1] ?? 404 }
  const ns = await measure({ bare: requestTo(bare, request), ours: requestTo(ours, request) })
  rows.push({
    what,
    'Fastify ns': Math.round(ns.bare),
    'ours ns': Math.round(ns.ours),
    'Fastify over ours': (ns.bare / ns.ours).toFixed(2),
    goal: goals[path] ?? '',
  })
}
report('P4 and P5 in process', rows)
