// P3 to P5, P7: the same six requests to our stack, bare Fastify, and what people would use instead.
import { fileURLToPath } from 'node:url'
import { microsRows, rangeRows, timesRows } from './peers/rows.mjs'
import { requireSameAnswers } from './peers/same-answers.mjs'
import { repeatSeries } from './peers/series.mjs'
import { report, rotate, size } from './support/measure.mjs'
import { compareServers } from './support/servers.mjs'
import { installApart } from '../scripts/install-apart.mjs'

process.env.NODE_ENV = 'production' // the servers inherit it

const json = { accept: 'application/json' }
const signedIn = { ...json, cookie: 'theme=dark; session=1f6f0b4c' }
const list = 'P7 list of 50, same code'
const requests = {
  'public route': { path: '/public/ping', headers: json, status: 200 },
  'protected route, signed in': { path: '/private', headers: signedIn, status: 200 },
  'P3 anonymous 401': { path: '/refused', headers: json, status: 401 },
  'P4 domain miss, thrown': { path: '/missing', headers: signedIn, status: 404 },
  'P5 unmatched': { path: '/nope', headers: signedIn, status: 404 },
  [list]: { path: '/list/plain', headers: signedIn, status: 200 },
}
/** Ours answers the same list in two more ways. */
const otherLists = {
  'by schema': { server: 'ours', path: '/list', headers: signedIn, status: 200 },
  'list kept': { server: 'ours', path: '/api/settings', headers: signedIn, status: 200 },
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
const servers = Object.keys(scripts)
const others = servers.slice(1)
/** Bare Fastify fails in its own words: that is what P4 and P5 compare with. */
const inOwnWords = (server, what) => server === 'bare' && /^P[45] /.test(what)

try {
  installApart(fileURLToPath(new URL('peers', import.meta.url)), 'frameworks to compare with')
  await requireSameAnswers(scripts, requests, inOwnWords)
} catch (error) {
  console.error(error.message)
  process.exit(1)
}
const cases = casesOf(requests)
const results = await repeatSeries((number) => compareServers(inOrder(number), cases, { series: 1 }), {
  most: size(7, 1),
  minutes: 5.5,
})

report('Peers: CPU time of the server, µs per request', microsRows(results))
report('Peers: range of the multiples over the series', rangeRows(results))
report(
  'Peers: CPU time as a multiple of ours',
  timesRows(results, [
    { what: 'P7 geometric mean', servers: others },
    { what: 'P7 geometric mean, list kept', servers: others, instead: { [list]: 'list kept' } },
  ]),
)

function casesOf(requests) {
  const cases = Object.entries(requests).map(([what, request]) => [
    what,
    Object.fromEntries(servers.map((server) => [server, { server, ...request }])),
  ])
  const { [list]: lists, ...rest } = Object.fromEntries(cases)
  return { ...rest, [list]: { ...lists, ...otherLists } }
}

/** Another server starts first in each series. */
function inOrder(number) {
  return Object.fromEntries(rotate(servers, number).map((name) => [name, scripts[name]]))
}
