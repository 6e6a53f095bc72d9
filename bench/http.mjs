// P1 to P5, P7: requests over sockets, against bare Fastify, by the CPU time of the server's process.
import { report } from './support/measure.mjs'
import { compare, startServers } from './support/servers.mjs'

const { servers, stop } = await startServers({
  bare: new URL('servers/bare.mjs', import.meta.url),
  ours: new URL('servers/ours.mjs', import.meta.url),
})
const json = { accept: 'application/json' }
const signedIn = { ...json, cookie: 'theme=dark; session=1f6f0b4c' }
const routes = [
  { what: 'P1 public route', goal: 0.97, path: '/public/ping', headers: json, status: 200 },
  { what: 'P2 protected route, signed in', goal: 0.95, path: '/private', headers: signedIn, status: 200 },
  { what: 'P3 anonymous 401, bare: by hand', goal: 0.97, path: '/refused', headers: json, status: 401 },
  { what: 'P4 domain miss, thrown', goal: 1.2, path: '/missing', headers: signedIn, status: 404 },
  { what: 'P5 unmatched', goal: 1, path: '/nope', headers: signedIn, status: 404 },
  { what: 'P7 list of 50, same code', path: '/list', headers: signedIn, status: 200 },
]

const rows = []
for (const { what, goal, ...request } of routes) {
  const [bare, ours] = await compare({
    bare: { server: servers.bare, ...request },
    ours: { server: servers.ours, ...request },
  })
  rows.push({
    what,
    'bare µs': bare.micros.toFixed(1),
    'ours µs': ours.micros.toFixed(1),
    ratio: ours.ratio.toFixed(3),
    quartiles: ours.quartiles.map((ratio) => ratio.toFixed(2)).join('–'),
    goal,
  })
}
const mean = rows.reduce((product, { ratio }) => product * ratio, 1) ** (1 / rows.length)
rows.push({ what: 'P7 geometric mean', ratio: mean.toFixed(3), goal: 1 })
report('HTTP: CPU time of the server per request, bare over ours', rows)
stop()
