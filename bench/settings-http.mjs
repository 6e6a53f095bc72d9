// P6: the list of 50 settings while nothing changes, and its 304, against a list serialised for each request.
import { createApp } from './servers/everything.mjs'
import { report } from './support/measure.mjs'
import { compareServers } from './support/servers.mjs'

const signedIn = { cookie: 'session=1f6f0b4c' }
const list = { server: 'ours', path: '/api/settings', headers: signedIn, status: 200 }
const cases = {
  list: {
    serialised: { server: 'bare', path: '/list', headers: signedIn, status: 200 },
    floor: { server: 'bare', path: '/public/ping', headers: signedIn, status: 200 },
    kept: list,
    unmodified: { ...list, headers: { ...signedIn, 'if-none-match': await listEtag() }, status: 304 },
  },
}
const scripts = {
  bare: new URL('servers/bare.mjs', import.meta.url),
  ours: new URL('servers/ours.mjs', import.meta.url),
}
const results = await compareServers(scripts, cases)
const { serialised, floor, kept, unmodified } = results.list
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
