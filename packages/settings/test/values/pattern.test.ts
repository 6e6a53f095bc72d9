import fc from 'fast-check'
import t, { test } from 'tap'
import { type CompiledPattern, compilePattern, createPatternBudget } from '#src/values/pattern.js'

t.setTimeout(300_000) // of tap, which a busy machine would exceed; no test here looks at a clock

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

/**
 * Whether JavaScript finds the pattern, as ECMA-262 has it: from each code point on. Without the flag y, V8 also looks
 * between the halves of a surrogate pair, where \\B matches.
 */
function isFound(source: string, value: string): boolean {
  const sticky = new RegExp(source, 'uy')
  for (let index = 0; index <= value.length; index += (value.codePointAt(index) ?? 0) > 0xffff ? 2 : 1) {
    sticky.lastIndex = index
    if (sticky.test(value)) return true
  }
  return false
}

test('decision 9: a pattern means in the linear engine what it means in JavaScript', async (t) => {
  let linear = 0
  fc.assert(
    fc.property(pattern, text, (source, value) => {
      const compiled = compilePattern(source)
      if (compiled.steps < Infinity) linear++
      return compiled.search(value) === isFound(source, value)
    }),
    { numRuns: 3000, examples: [[String.raw`(\B)+`, 'a😀a']] },
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

test('decision 3: an invalid regular expression does not compile', async (t) => {
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
  // Unwatched it would outlive the universe.
  t.equal(createPatternBudget().search(compiled, `${'a'.repeat(60)}!`), undefined)
  t.equal(createPatternBudget().search(compiled, 'aaa'), true, 'the pattern still works')
})

test('decision 9: the time of patterns that backtrack is for all values of a request together', async (t) => {
  const budget = createPatternBudget()
  const hostile = compilePattern('^(?=a)(a+)+$')
  const harmless = counting(compilePattern('(?=b)b'))
  t.equal(budget.search(harmless, 'abc'), true)
  t.equal(budget.search(hostile, `${'a'.repeat(60)}!`), undefined)
  const { searches } = harmless
  for (let i = 0; i < 500; i++)
    t.equal(budget.search(harmless, `abc${i}`), undefined, 'harmless ones included')
  t.equal(harmless.searches, searches, 'which costs nothing more')
  t.equal(createPatternBudget().search(harmless, 'abc'), true, 'the next request has its own')
})

test('decision 57: 500 harmless values of a bulk are accepted, on either engine', async (t) => {
  for (const source of ['^[a-z]+[0-9]*$', '^(?=[a-z])[a-z]+[0-9]*$']) {
    const budget = createPatternBudget()
    const compiled = compilePattern(source)
    let found = 0
    for (let i = 0; i < 500; i++) if (budget.search(compiled, `harmless${i}`)) found++
    t.equal(found, 500, source)
  }
})

test('decision 57: a machine that lets the process wait is no reason to refuse a value', async (t) => {
  const harmless = compilePattern('^(?=[a-z])[a-z]+$')
  let waits = 3
  const search = (text: string): boolean => {
    // Without any work, for longer than the whole budget.
    if (waits-- > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 70)
    return harmless.search(text)
  }
  const budget = createPatternBudget()
  t.equal(budget.search({ ...harmless, search }, 'harmless'), true)
  t.equal(budget.search(harmless, 'another'), true)
  waits = Infinity
  t.equal(createPatternBudget().search({ ...harmless, search }, 'harmless'), undefined, 'but not for ever')
})

test('decision 57: a linear pattern is charged its steps times the length, never the time', async (t) => {
  const slow = counting({ ...compilePattern('a'), steps: 1000 }, 70)
  const budget = createPatternBudget(1)
  t.equal(budget.search(slow, 'a'.repeat(50_000)), true, 'fifty million steps, for longer than any limit')
  t.equal(budget.search(slow, 'a'.repeat(50_001)), undefined, 'one value')
  t.equal(slow.searches, 1, 'is refused before it is searched')
  for (const last of 'bcd') t.equal(budget.search(slow, 'a'.repeat(49_999) + last), true)
  t.equal(budget.search(slow, 'a'), undefined, 'two hundred million are for the request')
  t.equal(createPatternBudget().search(slow, 'a'), true, 'the next request has its own')
})

test('decision 57: the same pattern on the same text is searched and charged once', async (t) => {
  for (const steps of [10_000, Infinity]) {
    const pattern = counting({ ...compilePattern('a'), steps })
    const other = counting({ ...compilePattern('b'), steps })
    const budget = createPatternBudget()
    const searches = new Set<string>()
    for (let i = 0; i < 100; i++) {
      t.equal(budget.search(pattern, 'a'.repeat(4000)), true)
      t.equal(budget.search(other, 'a'.repeat(4000)), false)
      searches.add(`${pattern.searches} ${other.searches}`)
    }
    t.equal(searches.size, 1, 'no search after the first round')
  }
})

test('a failure that is no time-out is not hidden', async (t) => {
  const broken = {
    source: 'x',
    steps: Infinity,
    search: () => {
      throw new TypeError('broken')
    },
  }
  t.throws(() => createPatternBudget().search(broken, 'x'), { message: 'broken' })
})

test("a text that uses up the stack of V8's engine counts as not evaluated", async (t) => {
  const exhausted = {
    source: 'x',
    steps: Infinity,
    search: () => {
      throw new RangeError('Maximum call stack size exceeded')
    },
  }
  t.equal(createPatternBudget().search(exhausted, 'x'), undefined)
})

/** The pattern, with how often it was searched; each time the thread waits so many milliseconds. */
function counting(pattern: CompiledPattern, wait = 0): CompiledPattern & { searches: number } {
  const counted = {
    ...pattern,
    searches: 0,
    search(text: string): boolean {
      counted.searches++
      if (wait > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, wait)
      return pattern.search(text)
    },
  }
  return counted
}
