/** What controls show and send, for each type. */
import fc from 'fast-check'
import { test } from 'tap'
import { valueSchema } from '@fastify-modular/settings'
import { SettingType, type SettingDefinitionDto } from '@fastify-modular/settings/client'
import { textsOf } from '#src/texts/texts.js'
import { checkInput, parseInput, toInput } from '#src/browser/model/input.js'
import { fromLocal, toLocal } from '#src/browser/model/times.js'

function definition(type: SettingType, more: Partial<SettingDefinitionDto> = {}): SettingDefinitionDto {
  const complete = {
    key: 'a.b',
    displayName: 'A',
    description: null,
    group: null,
    scope: 1 as const,
    defaultValue: null,
    type,
    allowedValues: null,
    min: null,
    max: null,
    pattern: null,
    required: false,
    sensitive: false,
    order: 0,
    placeholder: null,
    public: false,
    options: null,
    unit: null,
    hidden: false,
    advanced: false,
    showWhen: null,
    confirm: null,
    restart: false,
    docsUrl: null,
    keywords: [],
    patternHint: null,
    maxLength: null,
    schema: null,
    flag: false,
    env: null,
    writePermission: null,
    canWrite: true,
    probe: null,
    ...more,
  }
  return { ...complete, valueSchema: { ...valueSchema(complete) } }
}

test('numbers are sent as JSON numbers; other input is an error, which names a decimal comma', async (t) => {
  const number = definition(SettingType.Number)
  for (const [input, value] of [
    ['587', 587],
    [' -2.5 ', -2.5],
    ['1e3', 1000],
    ['.5', 0.5],
    ['+7', 7],
    ['0', 0],
  ] as const) {
    t.same(parseInput(number, input, null), { value })
  }
  for (const input of ['abc', '1 2', '0x10', 'NaN', 'Infinity', '1e999', '--1', '١٢']) {
    t.match(parseInput(number, input, null), { problem: { message: 'notANumber' } }, input)
  }
  t.match(parseInput(number, '2,5', null), { problem: { message: 'decimalComma' } })
})

test('nothing entered means no value, an empty text where there is a default, an error where one is required', async (t) => {
  t.same(parseInput(definition(SettingType.Number), ' ', 5), { value: null })
  t.same(parseInput(definition(SettingType.Text), '', 'x'), { value: null })
  t.same(parseInput(definition(SettingType.Text, { defaultValue: 'd' }), '', 'x'), { value: '' })
  t.same(parseInput(definition(SettingType.Select, { defaultValue: 'd' }), '', 'x'), { value: null })
  t.match(parseInput(definition(SettingType.Text, { required: true }), '', 'x'), {
    problem: { message: 'emptyRequired' },
  })
})

test('spaces count in texts and not around addresses', async (t) => {
  t.same(parseInput(definition(SettingType.Password), ' p ', null), { value: ' p ' })
  t.same(parseInput(definition(SettingType.Url), ' https://a.example ', null), { value: 'https://a.example' })
})

test('the error of broken JSON has its line and column', async (t) => {
  const json = definition(SettingType.Json)
  t.same(parseInput(json, '{"a": [1, null]}', null), { value: { a: [1, null] } })
  for (const [text, line, column] of [
    ['{\n  "a": x\n}', 2, 8],
    ['[1 2]', 1, 4],
    ["{'a': 1}", 1, 2],
    ['{"a" 1}', 1, 6],
    ['["\\x"]', 1, 2],
    ['01', 1, 2],
    ['{"a": [', 1, 8],
    ['nul', 1, 1],
    ['['.repeat(60_000), 1, 502],
  ] as const) {
    const params = { line, column }
    t.same(parseInput(json, text, null), { problem: { message: 'invalidJson', params } }, text.slice(0, 20))
  }
  for (const [text, message] of [
    ['{\n  "a": 1\n  "b": 2\n}', 'missingComma'],
    ['[\n  {}\n  {}\n]', 'missingComma'],
    ['{"a": 1,}', 'spareComma'],
    ['[1,\n]', 'spareComma'],
    ['{"a": 1\n', 'invalidJson'],
  ] as const)
    t.match(parseInput(json, text, null), { problem: { message } }, text)
})

test('a secret is never shown, whatever its type', async (t) => {
  for (const type of Object.values(SettingType)) {
    t.equal(toInput(definition(type, { sensitive: true }), 'hush'), '')
  }
  t.same(parseInput(definition(SettingType.Bool, { sensitive: true }), 'false', null), { value: false })
})

test('every JSON value survives its control', async (t) => {
  const json = definition(SettingType.Json)
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const plain = JSON.parse(JSON.stringify(value))
      if (plain === null) return
      t.same(parseInput(json, toInput(json, plain), plain), { value: plain })
    }),
    { numRuns: 50 },
  )
})

test('UI-32: a date-time keeps its instant; one without an offset stays without', async (t) => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date('1975-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
      (date) => {
        date.setMilliseconds(0)
        const again = fromLocal(toLocal(date.toISOString()), 'local') ?? ''
        t.equal(new Date(again).getTime(), date.getTime())
      },
    ),
    { numRuns: 100 },
  )
  const type = definition(SettingType.DateTime)
  t.equal(toInput(type, '2030-01-01T10:00'), '2030-01-01T10:00')
  t.same(parseInput(type, '2030-01-02T10:00', '2030-01-01T10:00'), { value: '2030-01-02T10:00:00' })
  t.match(parseInput(type, '2030-01-02T10:00', null), { value: /^2030-01-02T10:00:00[+-]\d\d:\d\d$/ })
  for (const text of ['2030-01-02', '10:00', '2030-13-45T10:00']) {
    t.match(parseInput(type, text, null), { problem: { message: 'invalidDateTime' } }, text)
  }
})

test('hints while typing: range, colour, address, pattern; what this engine cannot judge, the API shall', async (t) => {
  const hint = (type: SettingType, input: string, more: Partial<SettingDefinitionDto> = {}) =>
    checkInput(definition(type, more), input, null, textsOf('en'))
  t.equal(hint(SettingType.Number, '0', { min: 1, max: 9 }), 'Enter a number from 1 to 9.')
  t.equal(hint(SettingType.Number, '0', { min: 1 }), 'Enter a number from 1 up.')
  t.equal(hint(SettingType.Number, '10', { max: 9 }), 'Enter a number up to 9.')
  t.equal(hint(SettingType.Number, '9', { min: 1, max: 9 }), undefined)
  t.match(hint(SettingType.Color, 'red'), /Enter a colour/)
  t.match(hint(SettingType.Url, 'ftp://a.example'), /https/)
  t.match(hint(SettingType.Email, 'a@b@c'), /email/)
  const digits = { pattern: '^\\d+$' }
  t.equal(
    hint(SettingType.Text, 'abc', digits),
    'Enter text in the format that this setting expects. Its description may say which.',
  )
  const like7 = 'Enter text in the same format as 7.'
  t.equal(hint(SettingType.Text, 'abc', { ...digits, placeholder: '7' }), like7)
  t.equal(hint(SettingType.Text, 'abc', { ...digits, placeholder: 'Your code', defaultValue: '7' }), like7)
  t.equal(hint(SettingType.Text, 'abc', { ...digits, patternHint: 'Digits only.' }), 'Digits only.')
  t.equal(
    hint(SettingType.Url, 'abc', { pattern: '^\\d+$', required: true })?.includes('\\d'),
    false,
    'S 2.3.2',
  )
  t.equal(hint(SettingType.Text, 'abc', { pattern: '(?P<name>x' }), undefined)
  t.equal(hint(SettingType.Text, 'a'.repeat(5000), { pattern: '^(a+)+$x' }), undefined, 'a slow pattern')
  t.match(hint(SettingType.Json, '['), /line 1/)
})
