import fc from 'fast-check'
import Fastify from 'fastify'
import { test } from 'tap'
import {
  acceptedEncoding,
  acceptedLocales,
  addVary,
  isApiTarget,
  isNavigation,
  prefersJson,
} from '@fastify-modular/core/internal'

test('a browser navigates when it names text/html and does not prefer JSON', (t) => {
  const table: Readonly<Record<string, boolean>> = {
    'text/html': true,
    'TEXT/HTML;level=1': true,
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8': true,
    'text/html;q=0.1': true,
    'application/json;q=0.5, text/html;q=0.5': true,
    'application/json, text/html;q=0.1': false,
    'application/problem+json, text/html;q=0.9': false,
    'text/html;q=0': false,
    'text/html;q=banana': false,
    '*/*': false,
    'text/*': false,
    '': false,
    ',;,=': false,
  }
  for (const [accept, expected] of Object.entries(table)) t.equal(isNavigation({ accept }), expected, accept)
  t.equal(isNavigation({}), false)
  t.equal(isNavigation({ accept: ['text/html'] }), false)
  t.end()
})

test('a request of a script is not a navigation, whatever it accepts', (t) => {
  const accept = 'text/html'
  t.equal(isNavigation({ accept, 'sec-fetch-mode': 'navigate' }), true)
  for (const mode of ['cors', 'no-cors', 'same-origin', 'websocket', '']) {
    t.equal(isNavigation({ accept, 'sec-fetch-mode': mode }), false, mode)
  }
  t.equal(isNavigation({ accept, 'x-requested-with': 'XMLHttpRequest' }), false)
  t.equal(isNavigation({ accept, 'x-requested-with': 'com.example.browser' }), true)
  t.end()
})

test('a client prefers JSON by its name, or by refusing HTML', (t) => {
  t.equal(prefersJson({}), false)
  t.equal(prefersJson({ accept: '*/*' }), false)
  t.equal(prefersJson({ accept: 'application/json' }), true)
  t.equal(prefersJson({ accept: 'application/vnd.api+json, text/html;q=0.5' }), true)
  t.equal(prefersJson({ accept: 'application/json;q=0.5, text/html' }), false)
  t.equal(prefersJson({ accept: 'text/html;q=0, */*' }), true)
  t.end()
})

test('more kinds of Accept than are cached, and longer ones, are read alike', (t) => {
  for (let index = 0; index < 300; index++) {
    t.equal(isNavigation({ accept: `text/html, x/${index}` }), true)
    t.equal(isNavigation({ accept: `x/${'y'.repeat(index)}, text/html;q=0` }), false)
  }
  t.end()
})

test('/api and what is below it, in any letter case, is for programs', (t) => {
  for (const target of ['/api', '/API/x', '/api/', '/Api?x', '/api#x']) t.ok(isApiTarget(target), target)
  for (const target of ['/', '/apis', '/x/api/', 'api', '/api-docs']) t.notOk(isApiTarget(target), target)
  t.end()
})

test('any Accept is read, in time that grows with its length', (t) => {
  fc.assert(fc.property(fc.string(), (accept) => typeof prefersJson({ accept }) === 'boolean'))
  t.equal(prefersJson({ accept: 'application/json;'.repeat(10_000) }), true)
  t.end()
})

test('Vary keeps the names that are set, and has none twice', async (t) => {
  const table: readonly (readonly [string | string[] | undefined, string])[] = [
    [undefined, 'Accept, X-Inertia'],
    ['Origin', 'Origin, Accept, X-Inertia'],
    ['accept', 'accept, X-Inertia'],
    ['x-inertia ,  ACCEPT', 'x-inertia ,  ACCEPT'],
    ['*', '*'],
    ['Origin, *', 'Origin, *'],
    [['Origin', 'Accept'], 'Origin,Accept, X-Inertia'],
  ]
  const app = Fastify()
  t.teardown(() => app.close())
  app.get<{ Querystring: { row: number } }>('/', (request, reply) => {
    const present = table[request.query.row]?.[0]
    if (present !== undefined) reply.header('vary', present)
    addVary(reply, 'Accept, X-Inertia')
    return reply.send('')
  })
  for (const [row, [, expected]] of table.entries()) {
    t.equal((await app.inject(`/?row=${row}`)).headers['vary'], expected)
  }
})

test('answers are compressed as the client takes it: brotli, else gzip, else not', (t) => {
  const table: Readonly<Record<string, 'br' | 'gzip' | undefined>> = {
    'gzip, deflate, br, zstd': 'br',
    'GZIP;q=1.0, identity; q=0.5': 'gzip',
    'br;q=0, gzip': 'gzip',
    'br ; q=0.000 , gzip;Q=0': undefined,
    'br;q=0.001': 'br',
    'br;q=banana': undefined,
    'brotli, x-gzip': undefined,
    '*': undefined,
    identity: undefined,
    ',;,=': undefined,
    '': undefined,
  }
  for (const [accepted, expected] of Object.entries(table))
    t.equal(acceptedEncoding({ 'accept-encoding': accepted }), expected, accepted)
  t.equal(acceptedEncoding({}), undefined)
  t.equal(acceptedEncoding({ 'accept-encoding': `${'a;'.repeat(8000)}, br` }), 'br')
  t.end()
})

test('locales come in the order of their weights, each before its parents', (t) => {
  const table: Readonly<Record<string, readonly string[]>> = {
    'de-AT;q=0.5, fr': ['fr', 'de-AT', 'de'],
    'zh-Hant-TW': ['zh-Hant-TW', 'zh-Hant', 'zh'],
    'DE-at , de ; q=0.9': ['de-AT', 'de'],
    'de;Q=0.1;x=y, fr;x=y;q=0.2': ['fr', 'de'],
    'de;q=0, fr;q=2, it;q=, *': [],
    '__proto__, ;;q=,,=': [],
    '': [],
  }
  for (const [header, locales] of Object.entries(table)) t.same(acceptedLocales(header), locales, header)
  t.same(acceptedLocales(undefined), [])
  t.end()
})

test('a long Accept-Language is read in linear time: a quadratic reader would not end', (t) => {
  const spaces = ' '.repeat(2_000_000)
  for (const header of [`de${spaces};q=0.5`, `de;${spaces}q=0.5`, `de;${';'.repeat(2_000_000)}q=0.5`])
    t.same(acceptedLocales(`fr, ${header}`)[0], 'fr')
  t.same(acceptedLocales(`${'xx,'.repeat(1_000_000)}de`), ['xx'], 'what follows ten ranges is left out')
  t.end()
})

test('no Accept-Language makes the parser throw or return more than a bounded list', async () => {
  const part = fc.oneof(
    fc.string(),
    fc.constantFrom('de', 'de-AT', '*', ';q=0.5', ';q=', '-', 'x-'.repeat(40)),
  )
  fc.assert(
    fc.property(fc.array(part), (parts) => acceptedLocales(parts.join(',')).length <= 10 * 18),
    { numRuns: 500 },
  )
})
