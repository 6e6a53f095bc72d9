// P3 to P5, P7: the same six requests to our stack, bare Fastify, and what people would use instead.
import { installPeers } from './peers/install.mjs'
import { requireSameAnswers } from './peers/same-answers.mjs'
import { report, size } from './support/measure.mjs'
import { compareServers } from './support/servers.mjs'

process.env.NODE_ENV = 'production' // the servers inherit it

const json = { accept: 'application/json' }
const signedIn = { ...json, cookie: 'theme=dark; session=1f6f0b4c' }
const list = 'list of 50, same code'
const requests = {
  'public route': { path: '/public/ping', headers: json, status: 200 },
  'protected route, signed in': { path: '/private', headers: signedIn, status: 200 },
  'anonymous 401': { path: '/refused', headers: json, status: 401 },
  'domain miss, thrown': { path: '/missing', headers: signedIn, status: 404 },
  unmatched: { path: '/nope', headers: signedIn, status: 404 },
  [list]: { path: '/list', headers: signedIn, status: 200 },
}
const kept = { server: 'ours', path: '/api/settings', headers: signedIn, status: 200 }
const goals = {
  'anonymous 401': 'NestJS 2.5',
  'domain miss, thrown': 'bare 1.2, NestJS 1.8',
  unmatched: 'bare 1, NestJS 2.3',
  'geometric mean': 'bare 1, NestJS 1.5, Hono 1.35, Express 5',
  'geometric mean, list kept': 'bare 1.2, NestJS 1.75',
}

const script = (path) => new URL(path, import.meta.url)
const scripts = {
  ours: script('servers/ours.mjs'),
  bare: script('servers/bare.mjs'),
  'by hand': script('peers/servers/by-hand.mjs'),
  NestJS: script('peers/servers/nest.mjs'),
  Hono: script('peers/servers/hono.mjs'),
  Koa: script('peers/servers/koa.mjs'),
  Express: script('peers/servers/express.mjs'),
}
const others = Object.keys(scripts).filter((name) => name !== 'ours')

try {
  installPeers()
  await requireSameAnswers(scripts, requests, hasOwnErrors)
} catch (error) {
  console.error(error.message)
  process.exit(1)
}
const results = await compareServers(scripts, casesOf(requests), { series: size(4, 1) })
const keptRatio = results[list]['list kept'].ratio

report('Peers: CPU time of the server, µs per request', Object.entries(results).map(microsRow))
report('Peers: CPU time as a multiple of ours', [
  ...Object.entries(results).map(timesRow),
  meanRow('geometric mean', (_what, ratio) => ratio),
  meanRow('geometric mean, list kept', (what, ratio) => (what === list ? ratio * keptRatio : ratio)),
])

/** Bare Fastify answers with its own errors: that is what P4 and P5 compare with. */
function hasOwnErrors(server, what) {
  return server === 'bare' && (what === 'domain miss, thrown' || what === 'unmatched')
}

function casesOf(requests) {
  const cases = Object.entries(requests).map(([what, request]) => [
    what,
    Object.fromEntries(Object.keys(scripts).map((server) => [server, { server, ...request }])),
  ])
  return { ...Object.fromEntries(cases), [list]: { ...Object.fromEntries(cases)[list], 'list kept': kept } }
}

function microsRow([what, subjects]) {
  const micros = Object.entries(subjects).map(([name, { micros }]) => [name, micros.toFixed(1)])
  return { what, ...Object.fromEntries(micros) }
}

/** How often a server could do what ours does in the time it spends; in brackets the quartiles of the rounds. */
function timesRow([what, subjects]) {
  const times = Object.entries(subjects)
    .filter(([name]) => name !== 'ours')
    .map(([name, { ratio, quartiles }]) => {
      const [low, high] = quartiles.map((quartile) => (1 / quartile).toFixed(2)).toReversed()
      return [name, `${(1 / ratio).toFixed(2)} (${low}–${high})`]
    })
  return { what, ...Object.fromEntries(times), goal: goals[what] ?? '' }
}

function meanRow(what, adjust) {
  const means = others.map((name) => {
    const ratios = Object.entries(results).map(([request, subjects]) =>
      adjust(request, 1 / subjects[name].ratio),
    )
    return [name, (ratios.reduce((product, ratio) => product * ratio) ** (1 / ratios.length)).toFixed(2)]
  })
  return { what, ...Object.fromEntries(means), goal: goals[what] }
}
