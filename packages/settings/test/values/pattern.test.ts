import fc from 'fast-check'
import { test } from 'tap'
import { type CompiledPattern, compilePattern, createPatternBudget } from '#src/values/pattern.js'

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

test('decision 79: a pattern means in RE2 what it means in JavaScript, or is refused', async (t) => {
  let pairs = 0
  let refused = 0
  for (let seed = 0; pairs < 200_000; seed++) {
    const [source = ''] = fc.sample(pattern, { numRuns: 1, seed })
    const compiled = compiledOrNot(source)
    if (!compiled) refused++
    for (const value of compiled ? fc.sample(text, { numRuns: 100, seed }) : []) {
      if (compiled?.search(value) !== isFound(source, value)) t.fail(`${source} on ${JSON.stringify(value)}`)
      pairs++
    }
  }
  t.equal(compilePattern(String.raw`(\B)+`).search('a😀a'), isFound(String.raw`(\B)+`, 'a😀a'))
  t.ok(refused < 500, `${refused} of about 2,500 patterns are refused`)
})

test('decision 79: what the engine cannot match in linear time is refused with the way out', async (t) => {
  const rows = [
    [String.raw`^(?=.*\d).{4,}$`, /looks ahead or behind.*use maxLength for the length, or validate/],
    [String.raw`^(?!admin)`, /looks ahead or behind/],
    [String.raw`(?<=-)b`, /looks ahead or behind/],
    [String.raw`(?<!-)b`, /looks ahead or behind/],
    [String.raw`^(.)\1$`, /refers back to a group.*use validate/],
    [String.raw`(?<n>a)\k<n>`, /refers back to a group/],
    [String.raw`\ud83d\ude00`, /two halves of a character: write the character itself, or \\u\{…\}/],
    ['^a{1001}$', /invalid repeat count: \{1001\}.*or use validate/],
    [String.raw`\p{Script=Greek}`, /invalid character class range: \\p\{Script=Greek\}/],
    [String.raw`[\b]`, /invalid escape sequence: \\b/],
    ['(?<ü>a)', /invalid named capture/],
    [String.raw`^\d+\-\d+$`, /flag u: remove the backslash before "-"/],
    [String.raw`^[\w\-]+\@x$`, /remove the backslash before "@"/],
    [String.raw`[\@]`, /remove the backslash before "@"/],
    ['^a{,2}$', /flag u: correct it \(Incomplete quantifier\)/],
    ['[unclosed', /correct it \(Unterminated character class\)/],
    ['a**', /correct it \(Nothing to repeat\)/],
    ['(?i)a', /correct it \(Invalid group\)/],
  ] as const
  for (const [source, message] of rows)
    t.throws(() => compilePattern(source), { name: 'SyntaxError', message }, source)
})

test('decision 79: what only looks like lookaround or a reference is neither', async (t) => {
  for (const source of [String.raw`\(\?=`, '[(?=]', String.raw`\\1`, String.raw`(?:a|b)(?<name>c)`])
    t.doesNotThrow(() => compilePattern(source), source)
})

test('decision 79: a program of more than 2,000 steps is refused', async (t) => {
  t.throws(() => compilePattern('(?:abcdefghij){200}'), {
    message: /compiles to 20\d\d steps, more than 2000/,
  })
  t.ok(compilePattern('(?:abcdefghij){150}').steps > 1500)
})

test('decision 79: patterns that are exponential elsewhere end', async (t) => {
  const hostile = [
    '^(a+)+$',
    String.raw`^(?:\w|\d)*$`,
    '^(a|aa)+$',
    '^(a*)*$',
    String.raw`^(\w+\s?)*$`,
    '(x+x+)+y',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
  ]
  for (const source of hostile)
    t.equal(createPatternBudget().search(compilePattern(source), `${'a'.repeat(60)}!`), false, source)
})

test('decision 79: no text takes more than 4,000,000 steps, whatever the pattern', async (t) => {
  const sources = ['a', '^[a-z0-9-]{3,40}$', '(?:[ae][ab]{400}[cd])', '(?:abcdefghij){190}']
  for (const source of sources) {
    const { steps, maxLength } = compilePattern(source)
    t.ok(steps * maxLength <= 4_000_000, source)
    t.ok(steps * (maxLength + 1) > 4_000_000, `${source}: and not fewer than it may be`)
  }
})

test('decision 79: the texts of one write take no more than 20,000,000 steps, counted before each search', async (t) => {
  const pattern = counting(compilePattern('(?:[ae][ab]{400}[cd])'))
  const budget = createPatternBudget()
  const value = 'x'.repeat(pattern.maxLength - 1)
  const answers = Array.from({ length: 10 }, (_, index) => budget.search(pattern, value + index))
  t.same(answers.filter((answer) => answer === undefined).length, 5)
  t.ok(pattern.work > 19_000_000 && pattern.work <= 20_000_000, `${pattern.work}`)
  t.equal(createPatternBudget().search(pattern, `${value}9`), false, 'the next write has its own')
})

test('decision 79: the same text is searched and counted once for the same pattern', async (t) => {
  const pattern = counting(compilePattern('(?:[ae][ab]{400}[cd])'))
  const other = counting(compilePattern('b'))
  const budget = createPatternBudget()
  const value = 'b'.repeat(pattern.maxLength)
  for (let again = 0; again < 100; again++) {
    t.equal(budget.search(pattern, value), false)
    t.equal(budget.search(other, value), true)
  }
  t.equal(pattern.work, pattern.steps * value.length)
  t.equal(other.work, other.steps * value.length)
})

function compiledOrNot(source: string): CompiledPattern | undefined {
  try {
    return compilePattern(source)
  } catch {
    return undefined
  }
}

/** The pattern, with the steps that its searches may have taken. */
function counting(pattern: CompiledPattern): CompiledPattern & { readonly work: number } {
  let work = 0
  return {
    ...pattern,
    get work() {
      return work
    },
    search(value) {
      work += pattern.steps * value.length
      return pattern.search(value)
    },
  }
}
