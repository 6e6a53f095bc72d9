import { test } from 'tap'
import { SettingType } from '#src/setting-definition.js'
import { problemsOf, registered } from '../registered.js'

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

function ignoresPattern(type: SettingType, value: string, says: RegExp): Row {
  return { type, members: { pattern: '^never$' }, accepts: [value], refuses: ['never'], says }
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
    says: /format that this setting expects/,
  },
  'S 2.3: an anchored Pattern holds for the whole Text': {
    type: Text,
    members: { pattern: String.raw`^\d{4}$`, placeholder: '2026' },
    accepts: ['1234'],
    refuses: ['abc', '12345', '1234\n', '\n1234'],
    says: /same format as 2026\./,
  },
  'S 2.3: Pattern holds for MultilineText': {
    type: MultilineText,
    members: { pattern: '^#' },
    accepts: ['# title\ntext'],
    refuses: ['text\n# title'],
    says: /format that this setting expects/,
  },
  'S 2.3: Pattern holds for Password': {
    type: Password,
    members: { pattern: String.raw`\d` },
    accepts: ['hello w0rld'],
    refuses: ['no digits here'],
    says: /format that this setting expects/,
  },
  'S 2.3.2: Url ignores Pattern': ignoresPattern(Url, 'https://example.com', /a full address/),
  'S 2.3.2: Email ignores Pattern': ignoresPattern(Email, 'user@example.com', /email/),
  'S 2.3.2: Color ignores Pattern': ignoresPattern(Color, '#3b82f6', /a colour like/),
  'S 2.3.2: DateTime ignores Pattern': ignoresPattern(DateTime, '2025-01-15T14:30:00Z', /ISO 8601/),
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
  'decision 7: a Json cannot hold whole numbers that were rounded when they were read': {
    type: Json,
    accepts: [9007199254740991, 1e300, 0.1, { id: '9007199254740993' }],
    refuses: [JSON.parse('9007199254740993'), { ids: [-(2 ** 53)] }],
    says: /as text/,
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

function print(value: unknown): string {
  return typeof value === 'string'
    ? JSON.stringify(value.slice(0, 40))
    : String(typeof value === 'object' ? JSON.stringify(value) : value?.toString())
}
