// P1 to P5, P7: requests over sockets, against bare Fastify, by the CPU time of the server's process.
import { report } from './support/measure.mjs'
import { compareServers } from './support/servers.mjs'

const json = { accept: 'application/json' }
const signedIn = { ...json, cookie: 'theme=dark; session=1f6f0b4c' }
const requests = {
  'P1 public route': { path: '/public/ping', headers: json, status: 200 },
  'P2 protected route, signed in': { path: '/private', headers: signedIn, status: 200 },
  'P3 anonymous 401, bare: by hand': { path: '/refused', headers: json, status: 401 },
  'P4 domain miss, thrown': { path: '/missing', headers: signedIn, status: 404 },
  'P5 unmatched': { path: '/nope', headers: signedIn, status: 404 },
  'P7 list of 50, same code': { path: '/list', headers: signedIn, status: 200 },
}
const goals = { P1: 0.97, P2: 0.95, P3: 0.97, P4: 1.2, P5: 1 }
const unmatched = 'P5 unmatched'

const scripts = Object.fromEntries(
  ['bare', 'ours', 'by-hand'].map((name) => [name, new URL(`servers/${name}.mjs`, import.meta.url)]),
)
/**
 * Our answer to an unmatched request has more headers and a longer body than Fastify's own: what those cost at least is
 * told by a handler written by hand. Its server does everything that the others do, so that it is as warm as they are.
 */
function subjectsOf([what, request]) {
  const both = { bare: { server: 'bare', ...request }, ours: { server: 'ours', ...request } }
  return [what, request.status === 401 ? both : { ...both, byHand: { server: 'by-hand', ...request } }]
}
const results = await compareServers(scripts, Object.fromEntries(Object.entries(requests).map(subjectsOf)))

const rowOf = (what, bare, other) => ({
  what,
  'bare µs': bare.micros.toFixed(1),
  'ours µs': other.micros.toFixed(1),
  'bare over ours': other.ratio.toFixed(3),
  quartiles: other.quartiles.map((ratio) => ratio.toFixed(2)).join('–'),
  goal: goals[what.slice(0, 2)] ?? '',
})
const rows = Object.entries(results).map(([what, { bare, ours }]) => rowOf(what, bare, ours))
const { bare, byHand } = results[unmatched]
rows.push({ ...rowOf('P5 the same bytes by hand, no plugin', bare, byHand), goal: '' })
const ratios = Object.values(results).map(({ ours }) => ours.ratio)
const mean = ratios.reduce((product, ratio) => product * ratio) ** (1 / ratios.length)
rows.push({ what: 'P7 geometric mean', 'bare over ours': mean.toFixed(3), goal: 1 })
report('HTTP: CPU time of the server per request', rows)
