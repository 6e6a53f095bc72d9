import fc from 'fast-check'
import { test } from 'tap'
import { SettingType } from '#src/setting-definition.js'
import { isEmptyValue, isTextLike } from '#src/values/validate.js'
import { allTypes, problemsOf, registered } from '../registered.js'

const {
  Text,
  Number: NumberType,
  Bool,
  Json,
  Select,
  Color,
  Url,
  Email,
  Password,
  MultilineText,
  DateTime,
} = SettingType
const notText = [5, true, {}, [], ['text'], Number.NaN, undefined, Symbol('s'), 1n, () => 'text', new Date(0)]

interface Row {
  readonly type: SettingType
  readonly members?: Parameters<typeof registered>[1]
  readonly accepts: readonly unknown[]
  readonly refuses: readonly unknown[]
  readonly says: RegExp
}

const rows: Record<string, Row> = {
  'S 2.3: a Bool is true or false, nothing that reads like it': {
    type: Bool,
    accepts: [true, false],
    refuses: ['yes', 'true', 1, 0, '', {}, [], undefined],
    says: /boolean/,
  },
  'S 2.3: a Number is a JSON number, not its text': {
    type: NumberType,
    accepts: [42, 0, -0, 0.1, -1.5, 1e-300, 9007199254740991, -9007199254740991],
    refuses: [
      '42',
      'not-a-number',
      '',
      true,
      {},
      [1],
      1n,
      NaN,
      Infinity,
      -Infinity,
      undefined,
      new Number(1),
    ],
    says: /Enter a number\./,
  },
  'decision 7: an integer that doubles cannot hold is refused instead of rounded': {
    type: NumberType,
    accepts: [2 ** 53 - 1],
    refuses: [2 ** 53, -(2 ** 53), JSON.parse('12345678901234567890'), 1e300],
    says: /integer between/,
  },
  'S 8.1: Min and Max are inclusive': {
    type: NumberType,
    members: { min: 5, max: 10 },
    accepts: [5, 7, 10],
    refuses: [4, 11, 4.999999, 10.000001],
    says: /at (least 5|most 10)\./,
  },
  'S 8.1: bounds may be fractions': {
    type: NumberType,
    members: { min: 0.1, max: 0.1 },
    accepts: [0.1],
    refuses: [0.1 + Number.EPSILON, 0],
    says: /at (least|most) 0\.1\./,
  },
  'S 8.1: a bound of zero counts': {
    type: NumberType,
    members: { min: 0, max: 0 },
    accepts: [0],
    refuses: [-1, 1],
    says: /at (least|most) 0\./,
  },
  'S 2.3: a Select is one of AllowedValues, exactly': {
    type: Select,
    accepts: ['compact', 'comfortable', 'spacious'],
    refuses: ['enormous', 'Compact', 'compact ', '', 5, ['compact'], {}, 'toString', '__proto__', undefined],
    says: /one of: compact, comfortable, spacious/,
  },
  'S 2.3: Text is a string of any content': {
    type: Text,
    accepts: ['any string value', '<script>', 'ü 😀 \u202e', 'a\nb', '12', ' '],
    refuses: notText,
    says: /Enter text\./,
  },
  'S 2.3: MultilineText is a string of any content': {
    type: MultilineText,
    accepts: ['line\r\nline', '\t', 'x'.repeat(65_536)],
    refuses: notText,
    says: /Enter text\./,
  },
  'S 2.3: Password is a string, and spaces belong to it': {
    type: Password,
    accepts: [' ', 'correct horse', ' padded '],
    refuses: notText,
    says: /Enter text\./,
  },
  'S 2.3: Pattern is searched anywhere in a Text, as it is written': {
    type: Text,
    members: { pattern: 'b+' },
    accepts: ['b', 'abc', 'a\nb'],
    refuses: ['a', 'B'],
    says: /matches the pattern b\+/,
  },
  'S 2.3: an anchored Pattern holds for the whole Text': {
    type: Text,
    members: { pattern: String.raw`^\d{4}$` },
    accepts: ['1234'],
    refuses: ['abc', '12345', '1234\n', '\n1234'],
    says: /matches the pattern/,
  },
  'S 2.3: Pattern holds for MultilineText': {
    type: MultilineText,
    members: { pattern: '^#' },
    accepts: ['# title\ntext'],
    refuses: ['text\n# title'],
    says: /matches the pattern/,
  },
  'S 2.3: Pattern holds for Password': {
    type: Password,
    members: { pattern: String.raw`^(?=.*\d)(?=.*[a-z]).{8,}$` },
    accepts: ['hello w0rld'],
    refuses: ['short1', 'no digits here'],
    says: /matches the pattern/,
  },
  'S 2.3.2: Url ignores Pattern': {
    type: Url,
    members: { pattern: '^never$' },
    accepts: ['https://example.com'],
    refuses: ['never'],
    says: /URL/,
  },
  'S 2.3.2: Email ignores Pattern': {
    type: Email,
    members: { pattern: '^never$' },
    accepts: ['user@example.com'],
    refuses: ['never'],
    says: /email/,
  },
  'S 2.3.2: Color ignores Pattern': {
    type: Color,
    members: { pattern: '^never$' },
    accepts: ['#3b82f6'],
    refuses: ['never'],
    says: /hex/,
  },
  'S 2.3.2: DateTime ignores Pattern': {
    type: DateTime,
    members: { pattern: '^never$' },
    accepts: ['2025-01-15T14:30:00Z'],
    refuses: ['never'],
    says: /ISO 8601/,
  },
  'S 2.3: Json is any JSON value but null': {
    type: Json,
    accepts: [false, 0, 'text', [], {}, { nested: ['object', 3, null] }],
    refuses: [
      undefined,
      NaN,
      Infinity,
      1n,
      Symbol('s'),
      () => 1,
      new Date(0),
      new Map(),
      { at: undefined },
      [undefined],
      /x/,
    ],
    says: /Enter a JSON value\./,
  },
  'decision 10: a Json cannot hold the empty string': {
    type: Json,
    accepts: ['"'],
    refuses: [''],
    says: /empty string/,
  },
}

for (const [rule, { type, members, accepts, refuses, says }] of Object.entries(rows)) {
  test(rule, async (t) => {
    const setting = registered(type, members)
    for (const value of accepts) t.same(problemsOf(setting, value), [], `accepts ${print(value)}`)
    for (const value of refuses) {
      const problems = problemsOf(setting, value)
      t.equal(problems.length, 1, `refuses ${print(value)} with one message`)
      t.match(problems[0], says)
    }
  })
}

test('decision 10: null clears a setting of any type that is not required', async (t) => {
  for (const [name, type] of allTypes) t.same(problemsOf(registered(type), null), [], name)
})

test('decision 10: a required setting of any type refuses null and the empty string', async (t) => {
  for (const [name, type] of allTypes) {
    const setting = registered(type, { required: true })
    t.same(problemsOf(setting, null), ['A value is required.'], `${name} null`)
    t.same(problemsOf(setting, ''), ['A value is required.'], `${name} ""`)
  }
})

test('S 2.3: false and 0 are values of required settings', async (t) => {
  t.same(problemsOf(registered(Bool, { required: true }), false), [])
  t.same(problemsOf(registered(NumberType, { required: true }), 0), [])
})

test('decision 10: the empty string is a value of text-like types and of no other', async (t) => {
  for (const [name, type] of allTypes) {
    t.equal(problemsOf(registered(type), '').length === 0, isTextLike(type), name)
  }
  t.same(problemsOf(registered(Text, { pattern: 'x' }), ''), [], 'whatever the pattern')
})

test('decision 10: white space is empty where a Text or MultilineText is required, and only there', async (t) => {
  for (const [name, type] of allTypes) {
    const trimmed = type === Text || type === MultilineText
    t.equal(isEmptyValue(registered(type, { required: true }), ' \n\u00a0'), trimmed, `${name}, required`)
    t.equal(isEmptyValue(registered(type), ' \n\u00a0'), false, `${name}, not required`)
  }
  t.same(problemsOf(registered(Password, { required: true }), ' '), [], 'a Password of spaces is one')
})

test('decision 11: strings are limited to 16 KiB and MultilineText and Json to 64 KiB, in bytes', async (t) => {
  const text = registered(Text)
  t.same(problemsOf(text, 'a'.repeat(16_384)), [])
  t.match(problemsOf(text, 'a'.repeat(16_385)), ['Enter at most 16384 bytes of text.'])
  t.same(problemsOf(text, 'ü'.repeat(8_192)), [])
  t.match(problemsOf(text, 'ü'.repeat(8_193)), ['Enter at most 16384 bytes of text.'])
  t.match(problemsOf(registered(MultilineText), 'a'.repeat(65_537)), ['Enter at most 65536 bytes of text.'])
  t.same(problemsOf(registered(Json), 'a'.repeat(65_534)), [], 'two quotes beside it')
  t.match(problemsOf(registered(Json), 'a'.repeat(65_535)), ['Enter at most 65536 bytes of JSON.'])
})

test('decision 11: NUL and unpaired surrogates are refused in every string', async (t) => {
  const hostile = ['a\0b', '\ud800', '\udc00\ud800', 'a\udfffb']
  for (const type of [Text, Password, MultilineText, Json]) {
    for (const value of hostile)
      t.match(problemsOf(registered(type), value), [/NUL characters and unpaired surrogates/])
  }
  for (const type of [Url, Email, Color, DateTime, Select]) {
    for (const value of hostile) t.ok(problemsOf(registered(type), value).length > 0, 'its format refuses it')
  }
})

test('decision 12: all problems of one value are told', async (t) => {
  t.match(problemsOf(registered(Text, { pattern: 'b' }), 'a\0'), [/NUL/, /pattern b/])
})

test('decision 12: no message repeats the value that was refused', async () => {
  const settings = allTypes.map(([, type]) => registered(type, { pattern: '^$', min: 3, max: 3 }))
  const refusedValue = fc.string({ minLength: 8 }).map((text) => `s3cr3t-${text}`)
  fc.assert(
    fc.property(fc.constantFrom(...settings), refusedValue, (setting, value) =>
      problemsOf(setting, value).every((message) => !message.includes('s3cr3t')),
    ),
  )
})

test('no value of any kind makes the validator throw', async () => {
  const settings = allTypes.map(([, type]) => registered(type, { pattern: String.raw`^(?=a)\s.$` }))
  fc.assert(
    fc.property(
      fc.constantFrom(...settings),
      fc.anything({ withBigInt: true, withNullPrototype: true }),
      (setting, value) => Array.isArray(problemsOf(setting, value)),
    ),
    { numRuns: 500 },
  )
})

test('a rule of the developer is asked about values that satisfy the rest, and about no others', async (t) => {
  const asked: unknown[] = []
  const setting = registered(NumberType, {
    min: 1,
    validate(value) {
      asked.push(value)
      return value === 2 ? 'Enter another number than 2.' : undefined
    },
  })
  t.same(problemsOf(setting, 1), [])
  t.same(problemsOf(setting, 2), ['Enter another number than 2.'])
  t.match(problemsOf(setting, 0), [/at least 1/])
  t.same(problemsOf(setting, null), [])
  t.same(asked, [1, 2])
})

test('a rule may return several messages', async (t) => {
  const setting = registered(Text, { validate: () => ['One.', 'Two.'] })
  t.same(problemsOf(setting, 'x'), ['One.', 'Two.'])
})

test('a rule that returns something else than messages is a mistake that names its setting', async (t) => {
  const asynchronous = async () => 'Too late.'
  // @ts-expect-error -- a rule is synchronous
  const setting = registered(Text, { validate: asynchronous })
  t.throws(() => problemsOf(setting, 'x'), {
    code: 'FMOD_SETTINGS_INVALID_RULE_RESULT',
    message: /test\.key/,
  })
})

function print(value: unknown): string {
  return typeof value === 'string'
    ? JSON.stringify(value.slice(0, 40))
    : String(typeof value === 'object' ? JSON.stringify(value) : value?.toString())
}
