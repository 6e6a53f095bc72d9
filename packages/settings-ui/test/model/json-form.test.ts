import { type TSchema, Type } from '@sinclair/typebox'
import { test } from 'tap'
import {
  type Form,
  formOf,
  newPart,
  partsOf,
  pointerTo,
  toText,
  withValue,
} from '#src/browser/model/json-form.js'
import { toNumber } from '#src/browser/model/input.js'
import { splitError } from '#src/browser/model/setting.js'

function form(schema: TSchema): Form | null {
  return formOf({ schema })
}

const link = Type.Object({
  label: Type.String({ title: 'Label' }),
  port: Type.Optional(Type.Integer({ default: 80 })),
  isNew: Type.Boolean(),
  kind: Type.Union([Type.Literal('page', { title: 'Page' }), Type.Literal('mail')]),
})

test('lists of values, lists of flat objects and flat objects have a form', async (t) => {
  t.match(form(Type.Array(Type.String())), { isList: true, fields: [{ name: '', kind: 'text' }] })
  t.match(form(Type.Array(Type.Integer())), { fields: [{ kind: 'number' }] })
  t.match(form(Type.Array(link)), { isList: true, fields: [{}, {}, {}, {}] })
  t.match(form(link), {
    isList: false,
    fields: [
      { name: 'label', label: 'Label', kind: 'text', isOptional: false, initial: '' },
      { name: 'port', label: 'port', kind: 'number', isOptional: true, initial: 80 },
      { kind: 'bool', initial: false },
      { kind: 'choice', options: [{ value: 'page', label: 'Page' }, { label: 'mail' }], initial: 'page' },
    ],
  })
})

test('an enumeration is a choice, as Zod and others describe it', async (t) => {
  const schema = Type.Object({ kind: Type.Unsafe<string>({ type: 'string', enum: ['in', 'out'] }) })
  t.match(form(schema), {
    fields: [{ kind: 'choice', options: [{ value: 'in', label: 'in' }, { value: 'out' }], initial: 'in' }],
  })
})

const without: Readonly<Record<string, TSchema>> = {
  'a value alone': Type.String(),
  'a list of lists': Type.Array(Type.Array(Type.String())),
  'an object in an object': Type.Object({ inner: link }),
  'members of any name': Type.Object({ a: Type.String() }, { additionalProperties: Type.String() }),
  'an object without members': Type.Object({}),
  'a value of several types': Type.Array(Type.Union([Type.String(), Type.Integer()])),
  anything: Type.Array(Type.Unknown()),
}
for (const [name, schema] of Object.entries(without)) {
  test(`${name} has no form`, async (t) => t.equal(form(schema), null))
}

test('a value of another shape is edited as JSON', async (t) => {
  const list = form(Type.Array(link))
  const object = form(link)
  if (!list || !object) throw new Error('no form')
  for (const text of ['{}', '5', '[5]', '[null]', '[{"other":1}]', '[{"label":{}}]', '[', 'null'])
    t.equal(partsOf(list, text), null, text)
  for (const text of ['[]', '"x"', '{"other":1}', '{"label":[]}', 'null'])
    t.equal(partsOf(object, text), null, text)
  t.same(partsOf(list, ''), [])
  t.same(partsOf(object, ' '), [{}])
  t.same(partsOf(list, '[{"label":5}]'), [{ label: 5 }], 'a value of another type is there to be corrected')
})

test('a field that is changed keeps its place, and an optional one that is emptied is left out', async (t) => {
  const object = form(link)
  const [label, port] = object?.fields ?? []
  if (!object || !label || !port) throw new Error('no form')
  const part = { label: 'a', port: 80, isNew: true, kind: 'mail' }
  t.equal(toText(object, [withValue(part, label, 'b')]), JSON.stringify({ ...part, label: 'b' }, null, 2))
  t.same(withValue(part, port, ''), { label: 'a', isNew: true, kind: 'mail' })
  t.same(withValue(part, label, ''), { ...part, label: '' })
  t.same(newPart(object), { label: '', isNew: false, kind: 'page' })
})

test('what stands for a number, and what does not', async (t) => {
  for (const [text, value] of [
    ['80', 80],
    ['1.50', 1.5],
    [' 7 ', 7],
    ['1e3', 1000],
  ] as const)
    t.equal(toNumber(text), value)
  for (const text of ['', ' ', '1,5', '0x10', 'Infinity', 'x']) t.equal(toNumber(text), undefined)
})

test('an error of the API is found at its field', async (t) => {
  const list = form(Type.Array(Type.Object({ 'a/b~': Type.String() })))
  const [field] = list?.fields ?? []
  if (!list || !field) throw new Error('no form')
  t.same(splitError('/1/a~1b~0: Enter text: like this.'), {
    pointer: '/1/a~1b~0',
    text: 'Enter text: like this.',
  })
  t.equal(pointerTo(list, 1, field), '/1/a~1b~0')
  t.same(splitError('Enter at most 3 items.'), { pointer: '', text: 'Enter at most 3 items.' })
  t.same(splitError('/x'), { pointer: '', text: '/x' })
})
