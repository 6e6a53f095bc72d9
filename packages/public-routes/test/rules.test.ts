import { PublicRoute } from '@fastify-modular/public-routes'
import { createFind, matcherOf, type RegisteredRule } from '#src/rule.js'
import fc from 'fast-check'
import { test } from 'tap'

const segment = fc.constantFrom('a', 'b', 'ab', 'api', 'items', 'é', '42', 'a.css', '')
const path = fc.array(segment, { maxLength: 4 }).map((segments) => `/${segments.join('/')}`)
const literalRule = fc
  .record({
    kind: fc.constantFrom<PublicRoute['kind']>('prefix', 'exact', 'suffix', 'subtree'),
    pattern: path,
  })
  .filter(({ kind, pattern }) => pattern !== '/' || kind === 'exact' || kind === 'suffix')
const regexRule = fc.record({
  kind: fc.constant<PublicRoute['kind']>('regex'),
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
})
const rule = fc.oneof(literalRule, regexRule).map(({ pattern, ...options }): RegisteredRule => ({
  route: new PublicRoute(pattern, options),
  source: 'test',
}))
const rules = fc.array(rule, { maxLength: 30 })

const linear = (all: readonly RegisteredRule[], target: string) =>
  all.some(({ route }) => route.matches('GET', target))

test('the search finds a rule exactly where a linear one does', async (t) => {
  fc.assert(
    fc.property(rules, path, (all, target) => {
      const found = createFind(all)(target)
      return (found !== undefined) === linear(all, target) && found?.route.matches('GET', target) !== false
    }),
    { numRuns: 3000, seed: 1 },
  )
  t.pass()
})

test('10,000 rules: the search tries only rules whose literal text fits the path', async (t) => {
  let tried = 0
  const counting = Array.from({ length: 10_000 }, (_, number): RegisteredRule => {
    const route = new PublicRoute(`/section-${number}/`, {
      kind: (['prefix', 'exact', 'subtree'] as const)[number % 3],
    })
    const { matchesPath } = matcherOf(route)
    Object.defineProperty(matcherOf(route), 'matchesPath', {
      value: (target: string) => ++tried > 0 && matchesPath(target),
    })
    return { route, source: 'test' }
  })
  const find = createFind(counting)
  t.equal(find('/section-3999/x'), counting[3999])
  t.equal(find('/nothing'), undefined)
  t.ok(tried <= 5, `tried ${tried} rules`)
})
