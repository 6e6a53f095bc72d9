import fc from 'fast-check'
import { test } from 'tap'
import { type JsonValue, SettingType } from '#src/setting-definition.js'
import { decodeStored } from '#src/secrets/row-codec.js'
import { decodeDefault, deepFreeze, encodeValue, toRaw } from '#src/values/json.js'
import { isTextLike } from '#src/values/validate.js'
import { allTypes, registered } from '../registered.js'

test('decision 4: a raw default is decoded by its type, never by what it looks like', async (t) => {
  const rows: [SettingType, string, JsonValue][] = [
    [SettingType.Text, 'light', 'light'],
    [SettingType.Text, '123', '123'],
    [SettingType.Text, 'true', 'true'],
    [SettingType.Text, '"quoted"', '"quoted"'],
    [SettingType.Text, 'null', 'null'],
    [SettingType.Color, '#fff000', '#fff000'],
    [SettingType.Select, 'compact', 'compact'],
    [SettingType.Number, '587', 587],
    [SettingType.Number, '-1.5e3', -1500],
    [SettingType.Bool, 'true', true],
    [SettingType.Bool, 'false', false],
    [SettingType.Json, '{"a":[1]}', { a: [1] }],
    [SettingType.Json, '"text"', 'text'],
  ]
  for (const [type, raw, value] of rows) t.same(decodeDefault(type, raw), value, `${type}: ${raw}`)
})

test('decision 4: a Number default follows the grammar of JSON, a Bool is true or false', async (t) => {
  for (const raw of ['', ' ', '0x10', '1_000', 'Infinity', 'NaN', '+1', '.5', '5.', '01', '1 ', '٣', '1n']) {
    t.throws(() => decodeDefault(SettingType.Number, raw), SyntaxError, `number ${JSON.stringify(raw)}`)
  }
  for (const raw of ['', 'True', 'TRUE', '1', 'yes', 'true ']) {
    t.throws(() => decodeDefault(SettingType.Bool, raw), SyntaxError, `bool ${JSON.stringify(raw)}`)
  }
  for (const raw of ['', '{', '{a:1}', "'x'", 'undefined']) {
    t.throws(() => decodeDefault(SettingType.Json, raw), SyntaxError, `json ${JSON.stringify(raw)}`)
  }
})

const valueOf = (type: SettingType): fc.Arbitrary<JsonValue> => {
  if (type === SettingType.Number)
    return fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n))
  if (type === SettingType.Bool) return fc.boolean()
  if (type === SettingType.Json) return fc.jsonValue() as fc.Arbitrary<JsonValue>
  return fc.string({ unit: 'grapheme' })
}

test('decision 4: the raw form of a value decodes to that value, for every type', async () => {
  for (const [, type] of allTypes) {
    fc.assert(
      fc.property(valueOf(type), (value) => {
        const raw = toRaw(type, value)
        if (raw === null) return value === null
        return encodeValue(decodeDefault(type, raw)) === encodeValue(value)
      }),
    )
  }
})

test('decision 4: the raw form of text is the text, of a Json text its JSON', async (t) => {
  for (const [name, type] of allTypes) {
    if (isTextLike(type)) t.equal(toRaw(type, 'hello world'), 'hello world', name)
    t.equal(toRaw(type, null), null, name)
  }
  t.equal(toRaw(SettingType.Json, 'hello'), '"hello"')
  t.equal(toRaw(SettingType.Number, 42), '42')
  t.equal(toRaw(SettingType.Bool, false), 'false')
})

test('a value that fits comes back from its stored text, frozen through and through', async (t) => {
  const setting = registered(SettingType.Json)
  const value = decodeStored(setting, encodeValue({ a: [{ b: 1 }] })) as { a: [{ b: number }] }
  t.same(value, { a: [{ b: 1 }] })
  t.ok([value, value.a, value.a[0]].every(Object.isFrozen))
})

test('stored text that is broken or does not fit the definition any more counts as none, and does not throw', async (t) => {
  const rows: [ReturnType<typeof registered>, string][] = [
    [registered(SettingType.Text), '{broken'],
    [registered(SettingType.Text), ''],
    [registered(SettingType.Text), '5'],
    [registered(SettingType.Text), 'null'],
    [registered(SettingType.Number, { max: 10 }), '11'],
    [registered(SettingType.Select), '"enormous"'],
    [registered(SettingType.Text, { pattern: '^a' }), '"b"'],
    [registered(SettingType.Text, { required: true }), '""'],
    [registered(SettingType.Text, { validate: () => 'No.' }), '"x"'],
  ]
  for (const [setting, text] of rows)
    t.equal(decodeStored(setting, text), null, `${setting.definition.type}: ${text}`)
})

test('equal values have equal text, whatever wrote them', async (t) => {
  t.equal(encodeValue(-0), encodeValue(0))
  t.equal(encodeValue(1.0), '1')
  t.equal(encodeValue('\u00fc'), '"ü"')
  fc.assert(
    fc.property(
      fc.jsonValue(),
      (value) => encodeValue(JSON.parse(encodeValue(value as JsonValue))) === encodeValue(value as JsonValue),
    ),
  )
})

test('freezing reaches what is inside of a frozen object', async (t) => {
  const inside = { changeable: true }
  deepFreeze(Object.freeze({ inside }))
  t.ok(Object.isFrozen(inside))
})
