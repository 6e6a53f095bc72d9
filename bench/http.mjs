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
const goals = [0.97, 0.95, 0.97, 1.2, 1, '']

const onBoth = (request) => ({ bare: { server: 'bare', ...request }, ours: { server: 'ours', ...request } })
const results = await compareServers(
  { bare: new URL('servers/bare.mjs', import.meta.url), ours: new URL('servers/ours.mjs', import.meta.url) },
  Object.fromEntries(Object.entries(requests).map(([what, request]) => [what, onBoth(request)])),
)
const rows = Object.entries(results).map(([what, { bare, ours }], at) => ({
  what,
  'bare µs': bare.micros.toFixed(1),
  'ours µs': ours.micros.toFixed(1),
  'bare over ours': ours.ratio.toFixed(3),
  quartiles: ours.quartiles.map((ratio) => ratio.toFixed(2)).join('–'),
  goal: goals[at],
}))
const ratios = Object.values(results).map(({ ours }) => ours.ratio)
const mean = ratios.reduce((product, ratio) => product * ratio) ** (1 / ratios.length)
rows.push({ what: 'P7 geometric mean', 'bare over ours': mean.toFixed(3), goal: 1 })
report('HTTP: CPU time of the server per request', rows)
