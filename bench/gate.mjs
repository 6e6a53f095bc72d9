// What finding the rule that opens a path costs at 10, 100 and 10,000 rules, and what the gate adds to a whole request in process.
import { setImmediate } from 'node:timers/promises'
import { canonicalPath } from '@fastify-modular/core/internal'
import { PublicRoute, publicRoutes } from '@fastify-modular/public-routes'
import Fastify from 'fastify'
import { Policies } from '../packages/public-routes/dist/gate/policy.js'
import { reasonOf } from '../packages/public-routes/dist/gate/gate.js'
import { Route } from '../packages/public-routes/dist/gate/routes.js'
import { requestTo } from './support/in-process.mjs'
import { measure, report } from './support/measure.mjs'

/** Runs `call` so often that the clock does not matter. */
const repeat = (call, times) => () => {
  for (let i = 0; i < times; i++) call(i)
  return times
}

/** 40 % exact, 40 % prefix, 10 % suffix, 10 % GET regex. */
function makeRules(count) {
  return Array.from({ length: count }, (_, number) => {
    const name = `/api/v${number % 7}/section-${number}`
    if (number % 10 < 4) return new PublicRoute(`${name}/item`, { kind: 'exact' })
    if (number % 10 < 8) return new PublicRoute(`${name}/`, { kind: 'prefix' })
    if (number % 10 === 8) return new PublicRoute(`/tail-${number}`, { kind: 'suffix' })
    return new PublicRoute(`${name}/[^/]+/share$`, { kind: 'regex', methods: ['GET'] })
  }).map((route) => ({ route, source: 'bench' }))
}

/** Half of them match. */
function makePaths(rules) {
  return Array.from({ length: 400 }, (_, number) => {
    const { kind, pattern } = rules[(number * 7919) % rules.length].route
    const hit = {
      exact: pattern,
      prefix: `${pattern}x/y`,
      suffix: `/a/b${pattern}`,
      regex: pattern.replace('[^/]+', '42').replace('$', ''),
    }[kind]
    return number % 2 === 0 ? hit : `/api/v${number % 7}/other-${number}/item`
  })
}

/** Paths that no route has are compared with all rules; a route with those alone that could open it. */
async function decisions() {
  const rows = []
  for (const count of [10, 100, 10_000]) {
    const rules = makeRules(count)
    const ofNoRoute = new Policies(rules).of(null, 'GET')
    const candidates = new Policies(rules.slice(0, 10))
    const route = new Route({ url: '/*', methods: ['GET'] })
    candidates.build([route])
    const ofRoute = candidates.of(route, 'GET')
    const paths = makePaths(rules)
    const ns = await measure({
      unmatched: repeat((i) => reasonOf(ofNoRoute, paths[i % 400]), count > 1000 ? 400 : 5_000),
      candidates: repeat((i) => reasonOf(ofRoute, paths[i % 400]), 20_000),
      canonical: repeat((i) => canonicalPath(paths[i % 400]), 20_000),
    })
    rows.push({
      rules: count,
      'unmatched path ns': Math.round(ns.unmatched),
      'route with up to 10 candidates ns': Math.round(ns.candidates),
      'canonical path ns': Math.round(ns.canonical),
    })
  }
  return rows
}

const session = { id: 'alice' }
const provider = { authenticate: ({ headers }) => (headers.cookie === 'session=1' ? session : null) }

function addRoutes(app) {
  const schema = { response: { 200: { type: 'object', properties: { ok: { type: 'boolean' } } } } }
  app.get('/public/ping', { schema }, (_request, reply) => void reply.send({ ok: true }))
  app.get('/public/items/:id', { schema }, (_request, reply) => void reply.send({ ok: true }))
  app.get('/private', { schema }, (_request, reply) => void reply.send({ ok: true }))
  // A GET regex of makeRules opens some of its paths.
  app.get('/api/v2/section-9/:id/:what', { schema }, (_request, reply) => void reply.send({ ok: true }))
}

async function withGate(count) {
  const app = Fastify()
  await app.register(publicRoutes, { provider, env: false })
  app.publicRoutes.addPrefix('/public/', { methods: ['GET'] })
  for (const { route } of makeRules(count)) app.publicRoutes.add(route)
  addRoutes(app)
  return app
}

const signedIn = { cookie: 'session=1' }

async function requests() {
  const few = await withGate(10)
  const many = await withGate(10_000)
  const without = Fastify()
  addRoutes(without)
  await Promise.all([without.ready(), few.ready(), many.ready()])
  // When ready, the gate sends one request of its own. A server that listens has no other by then; what is warm would be compiled
  // again for its kind of message, and stay slower by a fifth.
  await setImmediate()
  const rows = []
  for (const [name, path, headers] of [
    ['public static route', '/public/ping', {}],
    ['public parametric route', '/public/items/42', {}],
    ['public parametric route, signed in', '/public/items/42', signedIn],
    ['route whose path decides', '/api/v2/section-9/42/share', {}],
    ['route whose path decides, signed in', '/api/v2/section-9/42/share', signedIn],
    ['protected route, signed in', '/private', signedIn],
  ]) {
    const request = { path, headers, status: 200 }
    const ns = await measure({
      without: requestTo(without, request),
      few: requestTo(few, request),
      many: requestTo(many, request),
    })
    rows.push({
      request: name,
      'without ns': Math.round(ns.without),
      '10 rules: added ns': Math.round(ns.few - ns.without),
      '10,000 rules: added ns': Math.round(ns.many - ns.without),
    })
  }
  return rows
}

report('Gate: one decision', await decisions())
report('Gate: a whole request in process', await requests())
