import fc from 'fast-check'
import { test } from 'tap'
import { compilePattern, createPatternBudget } from '#src/values/pattern.js'

/** Values never hold unpaired surrogates: the validator refuses them first. */
const text = fc.string({
  unit: fc.constantFrom(...Array.from('aAbz09_- .\t\n\r\v\f\u00a0\u2028\ufeffüß😀[]\\^$')),
})

const atom = fc.constantFrom(
  'a',
  'b',
  'z',
  '.',
  '\\s',
  '\\S',
  '\\d',
  '\\D',
  '\\w',
  '\\W',
  '[ab]',
  '[^ab]',
  '[\\s\\d]',
  '[^\\S]',
  '[\\S]',
  '[.]',
  '[[:alpha:][b]',
  '[^]',
  '[]',
  '\\b',
  '\\B',
  '^',
  '$',
  '\\.',
  '\\[',
  '\\u00fc',
  '\\u{1f600}',
  '\\ud83d\\ude00',
  '😀',
  '\\x41',
  '\\t',
  '\\v',
  '\\cJ',
  '\\p{L}',
  '\\p{Lu}',
  '\\P{L}',
  '[a-z_]',
)
const pattern = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    atom,
    fc.tuple(tie('node'), tie('node')).map(([a, b]) => a + b),
    fc.tuple(tie('node'), tie('node')).map(([a, b]) => `(?:${a}|${b})`),
    fc
      .tuple(tie('node'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '*?'))
      .map(([a, times]) => `(${a})${times}`),
  ),
})).node

test('decision 9: a pattern means in the linear engine what it means in JavaScript', async (t) => {
  let linear = 0
  fc.assert(
    fc.property(pattern, text, (source, value) => {
      const compiled = compilePattern(source)
      if (compiled.steps < Infinity) linear++
      return compiled.search(value) === new RegExp(source, 'u').test(value)
    }),
    { numRuns: 3000 },
  )
  t.ok(linear > 1500, 'most patterns run on the linear engine')
})

test('decision 9: lookaround, backreferences and legacy syntax still work, on the other engine', async (t) => {
  const rows = [
    [String.raw`^(?=.*\d).{4,}$`, 'abc1', 'abcd'],
    [String.raw`^(?!admin)`, 'user', 'admin'],
    [String.raw`(?<=-)b`, 'a-b', 'ab'],
    [String.raw`^(.)\1$`, 'aa', 'ab'],
    [String.raw`^\d+\-\d+$`, '1-2', '12'],
    ['^\\p{Script=Greek}+$', 'αβγ', 'abc'],
    ['^a{,2}$', 'a{,2}', 'aa'],
  ] as const
  for (const [source, hit, miss] of rows) {
    const compiled = compilePattern(source)
    t.equal(compiled.steps, Infinity, source)
    t.equal(createPatternBudget().search(compiled, hit), true, `${source} finds ${hit}`)
    t.equal(createPatternBudget().search(compiled, miss), false, `${source} does not find ${miss}`)
  }
})

test('decision 3: what is no regular expression does not compile', async (t) => {
  for (const source of ['[unclosed', '(', '*', 'a**', '(?<n>a)(?<n>b)\\k<m>', '(?i)a']) {
    t.throws(() => compilePattern(source), { name: 'SyntaxError' }, source)
  }
})

test('decision 9: exponential patterns run on the linear engine and end', async (t) => {
  const hostile = [
    '^(a+)+$',
    String.raw`^(?:\w|\d)*$`,
    '^(a|aa)+$',
    '^(a*)*$',
    String.raw`^(\w+\s?)*$`,
    '(x+x+)+y',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
  ]
  for (const source of hostile) {
    const compiled = compilePattern(source)
    t.ok(compiled.steps < Infinity, `${source} is linear`)
    t.equal(createPatternBudget().search(compiled, `${'a'.repeat(60)}!`), false)
  }
})

test('decision 9: a pattern that backtracks without end is broken off, and counts as not evaluated', async (t) => {
  const compiled = compilePattern(String.raw`^(?=a)(a+)+$`)
  const start = performance.now()
  t.equal(createPatternBudget().search(compiled, `${'a'.repeat(60)}!`), undefined)
  t.ok(performance.now() - start < 2000, 'unwatched it would outlive the universe')
  t.equal(createPatternBudget().search(compiled, 'aaa'), true, 'the pattern still works')
})

test('decision 9: the time is for all patterns of a request together', async (t) => {
  const budget = createPatternBudget()
  const hostile = compilePattern('^(?=a)(a+)+$')
  const harmless = compilePattern('b')
  t.equal(budget.search(harmless, 'abc'), true)
  t.equal(budget.search(hostile, `${'a'.repeat(60)}!`), undefined)
  const start = performance.now()
  for (let i = 0; i < 500; i++) t.equal(budget.search(hostile, `${'a'.repeat(60)}!`), undefined)
  t.equal(budget.search(harmless, 'abc'), undefined, 'harmless ones included')
  t.ok(performance.now() - start < 2000, '499 more cost nothing')
  t.equal(createPatternBudget().search(harmless, 'abc'), true, 'the next request has its own')
})

test('decision 9: 500 harmless values of a bulk stay within the time, on either engine', async (t) => {
  for (const source of ['^[a-z]+$', '^(?=[a-z])[a-z]+$']) {
    const budget = createPatternBudget()
    const compiled = compilePattern(source)
    let found = 0
    for (let i = 0; i < 500; i++) if (budget.search(compiled, 'harmless')) found++
    t.equal(found, 500, source)
  }
})

test('decision 9: a busy machine, which lets the process wait, is no reason to refuse a value', async (t) => {
  const harmless = compilePattern('^(?=[a-z])[a-z]+$')
  let waits = 3
  const search = (text: string): boolean => {
    // Without any work, for longer than the whole budget.
    if (waits-- > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 70)
    return harmless.search(text)
  }
  t.equal(createPatternBudget().search({ ...harmless, search }, 'harmless'), true)
  waits = Infinity
  const start = performance.now()
  t.equal(createPatternBudget().search({ ...harmless, search }, 'harmless'), undefined, 'but not for ever')
  t.ok(performance.now() - start < 5000)
})

test('decision 9: linear work is broken off too when pattern and text are both huge, and the pattern recovers', async (t) => {
  const compiled = compilePattern('[ab]*a[ab]{900}c')
  t.ok(compiled.steps < Infinity)
  let state = 1
  const bit = (): number => (state = (state * 1103515245 + 12345) % 2 ** 31) / 2 ** 31
  const random = Array.from({ length: 60_000 }, () => (bit() < 0.5 ? 'a' : 'b')).join('') + 'c'
  const start = performance.now()
  t.equal(createPatternBudget(20).search(compiled, random), undefined)
  t.ok(performance.now() - start < 2000)
  const patient = createPatternBudget(5000) // a busy machine may need longer than a request gets
  t.equal(patient.search(compiled, `a${'b'.repeat(900)}c`), true)
  t.equal(patient.search(compiled, 'ab'), false)
})

test('a failure that is no time-out is not hidden', async (t) => {
  const broken = {
    source: 'x',
    steps: Infinity,
    search: () => {
      throw new TypeError('broken')
    },
    recover() {},
  }
  t.throws(() => createPatternBudget().search(broken, 'x'), { message: 'broken' })
})
