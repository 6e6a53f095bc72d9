import { compileLinearRegex } from '#src/matching/linear-regex.js'
import { maxPathLength } from '@fastify-modular/core/internal'
import fc from 'fast-check'
import { RE2JS } from 're2js'
import { test } from 'tap'

const code = 'FMOD_PUBLIC_ROUTES_INVALID_RULE'

const refused: readonly [string | RegExp, RegExp][] = [
  ['', /empty/],
  [new RegExp(''), /empty/],
  ['/a(', /Unterminated group/],
  [/\/a/g, /flags "g"/],
  [/\/a/y, /flags "y"/],
  [/\/a/m, /flags "m"/],
  ['/(?=a)', /lookaround/],
  ['/(?!a)', /lookaround/],
  ['/(?<=a)b', /lookaround/],
  [String.raw`/(a)\1`, /backreferences/],
  [String.raw`/a\Z`, /Invalid escape/],
  [String.raw`\A/a`, /Invalid escape/],
  [String.raw`/\Qa\E`, /Invalid escape/],
  ['/(?P<n>a)', /Invalid group/],
  ['/a{2000}', /repeat/],
]

for (const [pattern, message] of refused) {
  test(`decision 34: ${String(pattern)} is refused, and the message says why`, async (t) => {
    t.throws(() => compileLinearRegex(pattern), { code, message })
  })
}

test('S 5.5: the expression is anchored at the start, in every alternative', async (t) => {
  t.equal(compileLinearRegex('/a|/b').matchesPath('/b'), true)
  t.equal(compileLinearRegex('/a|/b').matchesPath('/x/b'), false)
  t.equal(compileLinearRegex('^/a|/b').matchesPath('/x/b'), false)
})

test('the flags i and s mean what they mean in JavaScript', async (t) => {
  t.equal(compileLinearRegex(/\/a/i).matchesPath('/A'), true)
  t.equal(compileLinearRegex(/\/a/).matchesPath('/A'), false)
  t.equal(compileLinearRegex(/\/a.b/s).matchesPath('/a\nb'), true)
})

const heads: readonly [string | RegExp, string][] = [
  ['/api/items/[^/]+$', '/api/items/'],
  ['^/api/', '/api/'],
  [String.raw`\/a\.css`, '/a.css'],
  ['/ab?c', '/a'],
  ['/ab*', '/a'],
  ['/ab{0,2}', '/a'],
  [String.raw`/a\.?b`, '/a'],
  ['/ab+', '/ab'],
  ['/a|/b', ''],
  ['/(?:a|b)', ''],
  [/\/A/i, ''],
  ['.*', ''],
]

for (const [pattern, head] of heads) {
  test(`the literal head of ${String(pattern)} is ${JSON.stringify(head)}`, async (t) => {
    t.equal(compileLinearRegex(pattern).literal, head)
  })
}

const atom = fc.constantFrom(
  'a',
  'b',
  '/',
  '.',
  '[^/]',
  String.raw`\d`,
  String.raw`\w`,
  '[a-c]',
  '(?:ab)',
  '(a|b)',
  String.raw`\.`,
  'é',
)
const quantifier = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{0,1}')
const expression = fc
  .array(
    fc.tuple(atom, quantifier).map((pair) => pair.join('')),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => parts.join(''))
const source = fc.oneof(
  expression,
  fc.tuple(expression, expression).map((pair) => pair.join('|')),
  expression.map((text) => `^/${text}$`),
)
const path = fc
  .string({ unit: fc.constantFrom('a', 'b', 'c', '/', '.', '1', 'é', 'A'), maxLength: 12 })
  .map((text) => `/${text}`)

test('property 8: the linear engine agrees with JavaScript anchored at the start', async (t) => {
  fc.assert(
    fc.property(source, fc.array(path, { minLength: 5, maxLength: 20 }), (text, paths) => {
      const ours = compileLinearRegex(text)
      return paths.every(
        (candidate) => ours.matchesPath(candidate) === new RegExp(text, 'uy').test(candidate),
      )
    }),
    { numRuns: 2000, seed: 1 },
  )
  t.pass()
})

test('property 6: every match begins with the literal head', async (t) => {
  fc.assert(
    fc.property(source, path, (text, candidate) => {
      const ours = compileLinearRegex(text)
      return !ours.matchesPath(candidate) || candidate.startsWith(ours.literal)
    }),
    { numRuns: 5000, seed: 2 },
  )
  t.pass()
})

const segment = fc.constantFrom(
  'a',
  'b',
  '1',
  '-',
  '.',
  '/',
  '[^/]+',
  String.raw`[^\/]+`,
  String.raw`\/`,
  String.raw`\.`,
)
const segments = fc
  .tuple(fc.constantFrom('/', '^/', ''), fc.array(segment, { maxLength: 8 }), fc.constantFrom('', '$'))
  .map((parts) => parts.flat().join(''))
  .filter((text) => text !== '')

test('an expression of whole segments matches what the linear engine matches, whichever of the two runs it', async (t) => {
  fc.assert(
    fc.property(segments, fc.array(path, { minLength: 5, maxLength: 20 }), (text, paths) => {
      const ours = compileLinearRegex(text)
      const engine = RE2JS.compile(`^(?:${RE2JS.translateRegExp(text)})`)
      return paths.every((candidate) => ours.matchesPath(candidate) === engine.test(candidate))
    }),
    { numRuns: 2000, seed: 3 },
  )
  t.pass()
})

const byV8 = [
  '/api/items/[^/]+/share$',
  '^/a',
  String.raw`\/a\/[^\/]+\/b\.css$`,
  '/[^/]+',
  '/a-[^/]+/b/[^/]+$',
]
const byEngine = [
  '/[^/]+a',
  '/[^/]+[^/]+$',
  '/[^/]*/b',
  '/a+',
  '/a.b',
  '/(?:[^/]+/)+$',
  '/[^/]+-[^/]+$',
  '/[^/]+/?$',
  /\/a/i,
]

test('V8 runs expressions in which nothing can match in two ways, and no others', async (t) => {
  for (const pattern of byV8) t.equal(compileLinearRegex(pattern).maxLength, Infinity, pattern)
  for (const pattern of byEngine) t.not(compileLinearRegex(pattern).maxLength, Infinity, String(pattern))
})

const hostile = [
  `${'/[^/]+'.repeat(100)}/b$`,
  '/(a|aa)+$',
  '/(a+)+$',
  String.raw`/(\w|\d)+$`,
  '/.*a.*a.*a.*b$',
  '/(x+x+)+y',
  '/([a-z]+)*!',
  '/(.*){20}b',
  '/[ab]*a[ab]{200}$',
]
const longPaths = [
  `/${'a'.repeat(maxPathLength - 2)}!`,
  `/${'ab'.repeat(maxPathLength / 2 - 1)}`,
  `/${'x'.repeat(maxPathLength - 1)}`,
  '/a'.repeat(maxPathLength / 2),
]

for (const pattern of hostile) {
  test(`${pattern} costs a bounded number of steps on the longest path`, async (t) => {
    const regex = compileLinearRegex(pattern)
    for (const long of longPaths) regex.matchesPath(long) // backtracking engines need minutes for some of these
    const fitting = longPaths.map((long) => long.slice(0, Math.min(regex.maxLength, long.length)))
    const started = process.cpuUsage()
    for (let round = 0; round < 20; round++) for (const long of fitting) regex.matchesPath(long)
    const { user, system } = process.cpuUsage(started)
    // The goal is 1 ms; ten times that still tells linear from exponential on a busy machine.
    t.ok((user + system) / 1000 / (20 * fitting.length) < 10)
  })
}

test('a path beyond the length that the expression may look at does not match', async (t) => {
  const regex = compileLinearRegex('/[ab]{100}')
  t.equal(regex.matchesPath(`/${'a'.repeat(100)}`), true)
  t.equal(regex.matchesPath(`/${'a'.repeat(regex.maxLength)}`), false)
})

test('expressions that V8 would refuse when it first matches answer', async (t) => {
  for (const pattern of [`/${'a'.repeat(40_000)}`, '/[^/]+'.repeat(20_000)]) {
    const regex = compileLinearRegex(pattern)
    t.equal(regex.matchesPath('/abc'), false, `${pattern.length} characters`)
  }
  t.equal(
    compileLinearRegex('/[^/]+'.repeat(maxPathLength / 2)).matchesPath('/a'.repeat(maxPathLength / 2)),
    true,
  )
})
