// P1 to P7: requests over sockets, against bare Fastify, by the CPU time of the server's process.
import { createApp } from './servers/everything.mjs'
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

const names = ['bare', 'ours']
const scripts = Object.fromEntries(
  names.map((name) => [name, new URL(`servers/${name}.mjs`, import.meta.url)]),
)
const cases = Object.entries(requests).map(([what, request]) => [
  what,
  Object.fromEntries(names.map((server) => [server, { server, ...request }])),
])
const list = { server: 'ours', path: '/api/settings', headers: signedIn, status: 200 }
const settings = {
  serialised: { server: 'bare', path: '/list', headers: signedIn, status: 200 },
  floor: { server: 'bare', path: '/public/ping', headers: signedIn, status: 200 },
  kept: list,
  unmodified: { ...list, headers: { ...signedIn, 'if-none-match': await listEtag() }, status: 304 },
}
const { settings: p6, ...results } = await compareServers(scripts, {
  ...Object.fromEntries(cases),
  settings,
})

const rows = Object.entries(results).map(([what, { bare, ours }]) => ({
  what,
  'bare µs': bare.micros.toFixed(1),
  'ours µs': ours.micros.toFixed(1),
  'bare over ours': ours.ratio.toFixed(3),
  quartiles: ours.quartiles.map((ratio) => ratio.toFixed(2)).join('–'),
  goal: goals[what.slice(0, 2)] ?? '',
}))
const ratios = Object.values(results).map(({ ours }) => ours.ratio)
const mean = ratios.reduce((product, ratio) => product * ratio) ** (1 / ratios.length)
rows.push({ what: 'P7 geometric mean', 'bare over ours': mean.toFixed(3), goal: 1 })
report('HTTP: CPU time of the server per request', rows)

const { serialised, floor, kept, unmodified } = p6
const row = (what, { micros, ratio }, goal) => ({
  what,
  µs: micros.toFixed(1),
  'of serialised': (1 / ratio).toFixed(2),
  'beyond nothing to do': ((micros - floor.micros) / (serialised.micros - floor.micros)).toFixed(2),
  goal,
})
report('P6 list of 50 settings over sockets', [
  row('bare Fastify, serialised for each request', serialised, ''),
  row('bare Fastify, nothing to do', floor, ''),
  row('settings API, nothing changed', kept, 0.3),
  row('settings API, 304', unmodified, 0.2),
])

/** The same definitions and no values make the same tag in every process. */
async function listEtag() {
  const app = await createApp()
  const { headers } = await app.inject({ url: list.path, headers: signedIn })
  await app.close()
  return headers.etag
}
