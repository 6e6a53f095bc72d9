import { PublicRoute, type MatchKind } from '@fastify-modular/public-routes'
import { RuleIndex, type RegisteredRule } from '#src/rules.js'
import fc from 'fast-check'
import { test } from 'tap'

const segment = fc.constantFrom('a', 'b', 'ab', 'api', 'items', 'é', '42', 'a.css', '')
const path = fc.array(segment, { maxLength: 4 }).map((segments) => `/${segments.join('/')}`)
const method = fc.constantFrom('GET', 'HEAD', 'POST', 'PATCH')
const methods = fc.option(fc.uniqueArray(method, { minLength: 1 }), { nil: undefined })
const literalRule = fc
  .record({
    kind: fc.constantFrom<MatchKind>('prefix', 'exact', 'suffix', 'subtree'),
    pattern: path,
    methods,
  })
  .filter(({ kind, pattern }) => pattern !== '/' || kind === 'exact' || kind === 'suffix')
const regexRule = fc.record({
  kind: fc.constant<MatchKind>('regex'),
  pattern: fc.constantFrom(
    '/a',
    '^/a?b',
    '/api/[^/]+$',
    '.*b',
    '/a|/b',
    '/items/*',
    '/(?:a|b)',
    String.raw`/a\.css$`,
    '/a{0}b',
    '[/]a',
  ),
  methods,
})
const routeRule = fc.record({
  kind: fc.constant<MatchKind>('route'),
  pattern: fc.constantFrom('/api/:id', '/:x', '/a/*', '/items/:id?', '/:a/b', '/:file.css'),
  methods,
})
const rule = fc.oneof(literalRule, regexRule, routeRule).map(({ pattern, ...options }): RegisteredRule => ({
  route: new PublicRoute(pattern, options),
  source: 'test',
}))
const rules = fc.array(rule, { maxLength: 30 })

const linear = (all: readonly RegisteredRule[], verb: string, target: string) =>
  all.some(({ route }) => route.matches(verb, target))

test('the index finds a rule exactly where a linear search does', async (t) => {
  fc.assert(
    fc.property(rules, method, path, (all, verb, target) => {
      const found = new RuleIndex(all).find({ method: verb, path: target })
      return (
        (found !== null) === linear(all, verb, target) &&
        (found === null || found.route.matches(verb, target))
      )
    }),
    { numRuns: 3000, seed: 1 },
  )
  t.pass()
})

test('the order in which rules are added, and adding them twice, changes no decision', async (t) => {
  fc.assert(
    fc.property(rules, method, path, (all, verb, target) => {
      const once = new RuleIndex(all).find({ method: verb, path: target }) !== null
      return (
        once === (new RuleIndex([...all.toReversed(), ...all]).find({ method: verb, path: target }) !== null)
      )
    }),
    { numRuns: 1000, seed: 2 },
  )
  t.pass()
})

test('a further rule never closes a path', async (t) => {
  fc.assert(
    fc.property(rules, rule, method, path, (all, more, verb, target) => {
      const before = new RuleIndex(all).find({ method: verb, path: target }) !== null
      return !before || new RuleIndex([...all, more]).find({ method: verb, path: target }) !== null
    }),
    { numRuns: 1000, seed: 3 },
  )
  t.pass()
})

test('a rule that is not admitted leaves the next one its chance', async (t) => {
  const first = { route: new PublicRoute('/a'), source: 'first' }
  const second = { route: new PublicRoute('/a/b', { kind: 'exact' }), source: 'second' }
  const index = new RuleIndex([first, second])
  t.equal(index.find({ method: 'GET', path: '/a/b', admits: (candidate) => candidate !== second }), first)
  t.equal(index.find({ method: 'GET', path: '/a/b', admits: (candidate) => candidate !== first }), second)
  t.equal(index.find({ method: 'GET', path: '/a/b', admits: () => false }), null)
})

test('10,000 rules: the index tries only rules whose literal text fits the path', async (t) => {
  let tried = 0
  const counting = Array.from({ length: 10_000 }, (_, number): RegisteredRule => {
    const route = new PublicRoute(`/section-${number}/`, {
      kind: (['prefix', 'exact', 'suffix', 'subtree'] as const)[number % 4],
    })
    const matchesPath = (target: string) => {
      tried++
      return route.matchesPath(target)
    }
    return { route: Object.create(route, { matchesPath: { value: matchesPath } }), source: 'test' }
  })
  const index = new RuleIndex(counting)
  t.equal(index.find({ method: 'GET', path: '/section-4000/x' }), counting[4000])
  t.equal(index.find({ method: 'GET', path: '/nothing' }), null)
  t.ok(tried <= 5, `tried ${tried} rules`)
})
