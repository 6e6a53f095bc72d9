/**
 * An oracle that shares no code with the gate: the parameters of a handler that ran for an anonymous request must
 * spell the target.
 */
import type { FastifyRequest } from 'fastify'
import { test } from 'tap'
import { gatedApp, lenientRouter, listen } from '../support/application.ts'
import { hostileRequests } from '@fastify-modular/test-support/hostile-requests'
import { rawRequest } from '../support/raw-request.ts'

type Params = Readonly<Record<string, string>>

/** Routes with the path that their parameters spell, written by hand, and whether a rule is meant to open it. */
const routes: Readonly<Record<string, (params: Params) => readonly [path: string, isOpen: boolean]>> = {
  '/open': () => ['/open', true],
  '/jobs::run': () => ['/jobs:run', true],
  '/static/*': (params) => [`/static/${params['*']}`, true],
  '/items/:id/share': ({ id }) => [`/items/${id}/share`, true],
  '/items/:id': ({ id }) => [`/items/${id}`, id === 'public' || String(id).endsWith('.css')],
  '/files/:name.:type': ({ name, type }) => [`/files/${name}.${type}`, type === 'css'],
  '/secret/:id/tilejson': ({ id }) => [`/secret/${id}/tilejson`, true],
  '/secret/:id': ({ id }) => [`/secret/${id}`, String(id).endsWith('.css')],
  '/secret': () => ['/secret', false],
}

const publicTargets = [
  '/open',
  '/jobs:run',
  '/static/a',
  '/items/1/share',
  '/files/a.css',
  '/secret/1/tilejson',
]
const protectedTargets = ['/secret/42', '/items/42', '/files/a.txt']
/** Rules match them as text, but the route does not: another letter case, a suffix that is a parameter's value. */
const deceptiveTargets = ['/SECRET/42.css', '/Items/42.css', '/secret/tilejson', '/items/tilejson']

/** One segment after the other, by the grammar of RFC 3986 and the octets themselves. */
function spelledBy(target: string): string | null {
  const [path = ''] = target.split('?')
  const segments = path.split('/')
  if (segments.shift() !== '') return null
  const isPlain = (segment: string, index: number) =>
    /^(?:[\w.~!$&'()*+,=:@-]|%[\dA-Fa-f]{2})*$/.test(segment) &&
    !/^\.{1,2}$/.test(segment) &&
    (segment !== '' || index === segments.length - 1)
  const octets = [...path.matchAll(/%(..)/g)].map(([, digits = '']) => Number.parseInt(digits, 16))
  const isReadTwice = octets.some(
    (octet) => octet < 32 || octet === 127 || /[\w.~/\\?#;%-]/.test(String.fromCharCode(octet)),
  )
  if (!segments.every(isPlain) || isReadTwice) return null
  try {
    return decodeURIComponent(path)
  } catch {
    return null
  }
}

for (const [name, routerOptions] of [
  ['default', {}],
  ['lenient', lenientRouter],
] as const) {
  test(`decision 31: behind a ${name} router a handler runs for an anonymous request only if the target is its one spelling`, async (t) => {
    const app = await gatedApp(t, { defaults: false }, { routerOptions })
    app.publicRoutes.addExact('/open').addExact('/jobs:run').addPrefix('/static/').addSuffix('.css')
    app.publicRoutes.addSuffix('/tilejson').addRegex('/items/[^/]+/share/?$').addSubtree('/items/public')
    const ran: { url: string; target: string; params: Params }[] = []
    for (const url of Object.keys(routes)) {
      app.all(url, async ({ raw, params }: FastifyRequest) => {
        ran.push({ url, target: raw.url ?? '', params: { ...(params as Params) } })
        return 'ran'
      })
    }
    const port = await listen(app)

    for (const target of publicTargets) await rawRequest({ port, target })
    t.equal(ran.length, publicTargets.length, 'what is public runs')

    for (const target of deceptiveTargets) await rawRequest({ port, target })
    let number = deceptiveTargets.length
    for (const request of hostileRequests({ protected: protectedTargets, public: publicTargets }, 600, 7)) {
      number++
      await rawRequest({ port, ...request })
    }
    for (const { url, target, params } of ran) {
      const [path, isOpen] = routes[url]?.(params) ?? ['', false]
      const spelled = spelledBy(target)
      const isSpelled = spelled === path || (name === 'lenient' && spelled === `${path}/`)
      if (!isSpelled || !isOpen) t.fail(`${target} ran ${url} with ${JSON.stringify(params)}`)
    }
    t.ok(ran.length > 200, `${ran.length} handlers ran for ${number} requests`)
  })
}
