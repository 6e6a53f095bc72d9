import fc from 'fast-check'
import { test } from 'tap'
import { SettingType } from '#src/setting-definition.js'
import { isEmptyValue, isTextLike, parseValue } from '#src/values/validate.js'
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
  const patterned = registered(Text, { pattern: 'b' })
  t.equal(problemsOf(patterned, 'a'.repeat(16_385)).length, 1, 'what is too long is not searched')
  t.same(problemsOf(text, 'ü'.repeat(8_192)), [])
  t.match(problemsOf(text, 'ü'.repeat(8_193)), ['Enter at most 16384 bytes of text.'])
  t.match(problemsOf(registered(MultilineText), 'a'.repeat(65_537)), ['Enter at most 65536 bytes of text.'])
  t.same(problemsOf(registered(Json), 'a'.repeat(65_534)), [], 'two quotes beside it')
  t.match(problemsOf(registered(Json), 'a'.repeat(65_535)), ['Enter at most 65536 bytes of JSON.'])
})

test('decision 79: a text is no longer than maxLength, or than its pattern allows, and the message says so', async (t) => {
  const long = registered(Text, { maxLength: 3 })
  t.same(problemsOf(long, 'abc'), [])
  t.match(problemsOf(long, 'abcd'), ['Enter at most 3 characters.'])
  const costly = registered(MultilineText, { pattern: '^(?:[ab]{900}c|[^])*$' })
  const { maxLength } = costly
  t.ok(maxLength !== null && maxLength < 65_536)
  t.same(problemsOf(costly, 'd'.repeat(maxLength ?? 0)), [])
  t.match(problemsOf(costly, 'd'.repeat((maxLength ?? 0) + 1)), [`Enter at most ${maxLength} characters.`])
  t.same(parseValue(costly, 'd'.repeat(maxLength ?? 0)).errors, [], 'a stored value, too')
})

test('decision 79: of a value that its pattern refuses nothing else is searched', async (t) => {
  const setting = registered(Text, { pattern: 'a', placeholder: 'an example' })
  const searched: string[] = []
  const pattern = setting.pattern && {
    ...setting.pattern,
    search: (text: string) => searched.push(text) < 0,
  }
  t.match(problemsOf({ ...setting, pattern }, 'x'), ['Enter text in the same format as an example.'])
  t.same(searched, ['x'])
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

test('decision 12: all problems of one value are in the answer', async (t) => {
  t.match(problemsOf(registered(Text, { pattern: 'b' }), 'a\0'), [/NUL/, /format/])
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
  const settings = allTypes.map(([, type]) => registered(type, { pattern: String.raw`^\s.$` }))
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

test('a rule that throws at a secret is a mistake whose error has nothing of the secret', async (t) => {
  for (const [sensitive, expected] of [
    [true, { code: 'FMOD_SETTINGS_INVALID_RULE_RESULT', message: /test\.key/, cause: undefined }],
    [false, { code: 'ERR_INVALID_URL', input: 'hunter2' }],
  ] as const) {
    const setting = registered(Text, { sensitive, validate: (value) => new URL(String(value)).pathname })
    t.throws(() => problemsOf(setting, 'hunter2'), expected)
  }
})

test('the rejection of a rule that returns a promise stops no process', async (t) => {
  const rejections: unknown[] = []
  const onRejection = (reason: unknown) => rejections.push(reason)
  process.on('unhandledRejection', onRejection)
  t.teardown(() => process.off('unhandledRejection', onRejection))
  const rejecting = () => Promise.reject(new Error('too late'))
  // @ts-expect-error -- a rule is synchronous
  const setting = registered(Text, { validate: rejecting })
  t.throws(() => problemsOf(setting, 'x'), { code: 'FMOD_SETTINGS_INVALID_RULE_RESULT' })
  await new Promise((done) => setImmediate(done))
  t.same(rejections, [])
})
