import { METHODS } from 'node:http'
import { PublicRoute } from '@fastify-modular/public-routes'
import { test } from 'tap'

const table: readonly [PublicRoute['kind'], string, string, boolean][] = [
  ['prefix', '/api/gis/stac', '/api/gis/stac', true],
  ['prefix', '/api/gis/stac', '/api/gis/stac/collections', true],
  ['prefix', '/api/gis/stac', '/api/gis/stacking', true],
  ['prefix', '/api/gis/stac', '/api/gis/datasets', false],
  ['prefix', '/api/gis/stac', '/x/api/gis/stac', false],
  ['exact', '/api/gis/catalog/search', '/api/gis/catalog/search', true],
  ['exact', '/api/gis/catalog/search', '/api/gis/catalog/search/extra', false],
  ['exact', '/api/gis/catalog/search', '/api/gis/catalog/search/', false],
  ['exact', '/a', '/A', false],
  ['suffix', '/tilejson', '/api/gis/datasets/42/tilejson', true],
  ['suffix', '/tilejson', '/tilejson', true],
  ['suffix', '/tilejson', '/api/gis/datasets/42/visibility', false],
  ['suffix', '.css', '/static/a.css', true],
  ['suffix', '.css', '/static/a.css/b', false],
  ['regex', '/api/gis/datasets/[^/]+/tilejson$', '/api/gis/datasets/42/tilejson', true],
  ['regex', '/api/gis/datasets/[^/]+/tilejson$', '/api/gis/datasets/42/tilejson/extra', false],
  ['regex', '/api/gis/datasets/[^/]+/tilejson$', '/prefix/api/gis/datasets/42/tilejson', false],
  ['regex', '/api/gis/datasets/[^/]+/tilejson', '/api/gis/datasets/42/tilejson/extra', true],
  ['regex', '/a|/b', '/b', true],
  ['regex', '/a|/b', '/x/b', false],
  ['regex', '/a$', '/a\n', false],
  ['subtree', '/docs', '/docs', true],
  ['subtree', '/docs', '/docs/', true],
  ['subtree', '/docs', '/docs/a/b', true],
  ['subtree', '/docs', '/docs-internal', false],
  ['subtree', '/docs/', '/docs', true],
]

for (const [kind, pattern, path, expected] of table) {
  test(`S 5.5: ${kind} ${pattern} ${expected ? 'matches' : 'does not match'} ${JSON.stringify(path)}`, async (t) => {
    t.equal(new PublicRoute(pattern, { kind }).matches('GET', path), expected)
  })
}

test('S 2.8: without methods every verb matches', async (t) => {
  const rule = new PublicRoute('/x')
  t.equal(rule.kind, 'prefix')
  t.equal(rule.methods, null)
  for (const method of METHODS) t.equal(rule.matches(method, '/x'), true, method)
})

test('S 2.8: methods are case-insensitive, in the rule and in the question', async (t) => {
  for (const methods of [['GET'], ['get'], [' Get '], new Set(['gEt'])]) {
    const rule = new PublicRoute('/x', { methods })
    t.equal(rule.matches('GET', '/x'), true)
    t.equal(rule.matches('get', '/x'), true)
    t.equal(rule.matches('POST', '/x'), false)
    t.equal(rule.matches('PATCH', '/x'), false)
  }
})

test('a rule cannot be changed after it was made, nor through the set it was made from', async (t) => {
  const methods = new Set(['GET'])
  const rule = new PublicRoute('/x', { methods })
  methods.add('POST')
  t.equal(rule.matches('POST', '/x'), false)
  t.throws(() => Object.assign(rule, { pattern: '/' }), TypeError)
})

const refused: readonly [string, unknown, object][] = [
  ['an empty prefix', '', {}],
  ['an empty exact path', '', { kind: 'exact' }],
  ['an empty suffix', '', { kind: 'suffix' }],
  ['the root as a prefix', '/', {}],
  ['the root as a subtree', '/', { kind: 'subtree' }],
  ['a prefix without a slash', 'api', {}],
  ['an exact path without a slash', 'api', { kind: 'exact' }],
  ['a number', 42, {}],
  ['a RegExp as a prefix', /x/, { kind: 'prefix' }],
  ['an empty set of methods', '/x', { methods: [] }],
  ['an unknown method', '/x', { methods: ['GTE'] }],
  ['methods that are one string', '/x', { methods: 'GET' }],
  ['a bigint', 1n, {}],
  ['a kind that is a bigint', '/x', { kind: 1n }],
  ['an unknown kind', '/x', { kind: 'glob' }],
  ['a kind that every object has', '/x', { kind: 'constructor' }],
  ['an invalid expression', '/x(', { kind: 'regex' }],
  ['an expression that opens every path', '/.*', { kind: 'regex' }],
  ['an expression that is nothing but an anchor', '^', { kind: 'regex' }],
  ['an expression that may match nothing', 'a*', { kind: 'regex' }],
]

for (const [name, pattern, options] of refused) {
  test(`decision 33: ${name} is refused`, async (t) => {
    t.throws(() => Reflect.construct(PublicRoute, [pattern, options]), {
      code: 'FMOD_PUBLIC_ROUTES_INVALID_RULE',
    })
  })
}

test('an unknown kind is named with the kinds that exist', async (t) => {
  t.throws(() => Reflect.construct(PublicRoute, ['/x', { kind: 'glob' }]), {
    message: /"\/x".*"glob".*prefix, exact, suffix, subtree, regex/,
  })
})
