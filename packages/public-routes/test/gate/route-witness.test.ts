import { canonicalPath } from '@fastify-modular/core/internal'
import { literalOf, parameterNames, parseRoutePattern } from '#src/matching/route-pattern.js'
import { spellsPath } from '#src/gate/gate.js'
import fc from 'fast-check'
import Fastify from 'fastify'
import { test } from 'tap'

test('route URLs are read as the router reads them', async (t) => {
  const id = { param: 'id' }
  t.same(parseRoutePattern('/a/:id/b'), [['/a/', id, '/b']])
  t.same(parseRoutePattern('/a/:id?'), [['/a/', id], ['/a']])
  t.same(parseRoutePattern('/:id?'), [['/', id], ['/']])
  t.same(parseRoutePattern('/a/:id(^\\d+$)/b'), [['/a/', { param: 'id', expression: '^\\d+$' }, '/b']])
  t.same(parseRoutePattern('/a/:id((a|b)c)-x'), [['/a/', { param: 'id', expression: '(a|b)c' }, '-x']])
  t.same(parseRoutePattern('/a/:file.:ext'), [['/a/', { param: 'file' }, '.', { param: 'ext' }]])
  t.same(parseRoutePattern('/v1::sync/*'), [['/v1:sync/', { param: '*' }]])
  t.same(parseRoutePattern('*'), [[{ param: '*' }]])
})

test('literal texts are those outside of parameters', async (t) => {
  const [pattern = []] = parseRoutePattern('/a/:id/tilejson')
  t.equal(literalOf(pattern[0]), '/a/')
  t.equal(literalOf(pattern.at(-1)), '/tilejson')
  t.equal(literalOf(parseRoutePattern('/a/:id')[0]?.at(-1)), '')
  t.same(parseRoutePattern('/a::b'), [['/a:b']])
})

/** Whether the route spells the path with these parameters, as the gate takes them from a request. */
function spells(
  url: string,
  params: Readonly<Record<string, unknown>>,
  path: string,
  toleratesSlash = false,
) {
  const patterns = parseRoutePattern(url)
  const values = parameterNames(patterns[0] ?? []).map((name) => params[name])
  return spellsPath({ patterns, toleratesSlash }, { values, path })
}

const cases: readonly [string, Readonly<Record<string, unknown>>, string, boolean, boolean][] = [
  ['/a/:id', { id: '42' }, '/a/42', false, true],
  ['/a/:id', { id: '43' }, '/a/42', false, false],
  ['/a/:id', { id: 'x:y' }, '/a/x%3Ay', false, true],
  ['/a/:id', {}, '/a/', false, false],
  ['/a/:id', { id: 42 }, '/a/42', false, false],
  ['/a', {}, '/a/', false, false],
  ['/a', {}, '/a/', true, true],
  ['/a', {}, '/a//', true, false],
  ['/a', {}, '/ab', true, false],
  ['/A', {}, '/a', false, false],
  ['/a/*', { '*': 'b/c' }, '/a/b/c', false, true],
  ['/a/:id?', {}, '/a', false, true],
  ['/a/:id?', { id: 'b' }, '/a/b', false, true],
  ['/:x-:y', { x: '1', y: '2' }, '/1-2', false, true],
]

for (const [url, params, path, lenient, expected] of cases) {
  test(`${url} with ${JSON.stringify(params)} ${expected ? 'spells' : 'does not spell'} ${path}${lenient ? ' leniently' : ''}`, async (t) => {
    t.equal(spells(url, params, path, lenient), expected)
  })
}

const urls = [
  '/',
  '/a',
  '/a/:id',
  '/a/:id/b',
  '/:x/:y',
  '/f/:file.:ext',
  '/r/:n(^\\d+$)',
  '/m/:a-:b',
  '/w/*',
  '/o/:p?',
  '/v1::sync',
  '/é/:id',
  '/a/:id/:n(^[a-f]+$)/c',
]
const value = fc.oneof(
  fc.constantFrom('1', 'a', 'b', 'c', 'x.y', 'a-b', '42', 'é', ':', 'a:b', '@', '+', '.x', '...'),
  fc.string({ minLength: 1, maxLength: 6 }),
)

test('the witness confirms every canonical target that the router gives to a route', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  for (const url of urls)
    app.get(url, async (request) => ({ url: request.routeOptions.url, params: request.params }))
  await app.ready()
  let confirmed = 0
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('', 'a', 'f', 'r', 'm', 'w', 'o', 'v1:sync', 'é'),
      fc.array(value, { maxLength: 4 }),
      async (head, values) => {
        const target = `/${[head, ...values]
          .filter((text) => text !== '')
          .map(encodeURIComponent)
          .join('/')}`
        const path = canonicalPath(target)
        const answer = await app.inject(target)
        if (path === null || answer.statusCode !== 200) return
        const { url, params } = answer.json<{ url: string; params: Record<string, string> }>()
        confirmed++
        t.equal(spells(url, params, path), true, `${url} ${target}`)
      },
    ),
    { numRuns: 1500, seed: 7 },
  )
  t.ok(confirmed > 300, `${confirmed} targets were routed`)
})
