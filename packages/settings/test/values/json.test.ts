import fc from 'fast-check'
import { test } from 'tap'
import { checkJson } from '#src/values/json.js'

const limit = 65_536

const nested = (depth: number): unknown => (depth === 0 ? [] : [nested(depth - 1)])

test('every JSON value within the limits comes back from its text as it was', async () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const problems = checkJson(value, limit)
      const poisoned = JSON.stringify(value).includes('"__proto__"')
      return problems.length === 0 || poisoned || hasRounded(value)
    }),
  )
})

/** Whether there is a whole number that JSON may have rounded. */
function hasRounded(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value)
  return typeof value === 'object' && value !== null && Object.values(value).some(hasRounded)
}

test('whatever is accepted survives a round trip through JSON', async () => {
  fc.assert(
    fc.property(
      fc.anything({
        withBigInt: true,
        withDate: true,
        withMap: true,
        withNullPrototype: true,
        withSparseArray: true,
      }),
      (value) => {
        if (checkJson(value, limit).length > 0) return true
        const text = JSON.stringify(value)
        return fc.stringify(withoutPrototypes(value)) === fc.stringify(JSON.parse(text))
      },
    ),
    { numRuns: 1000 },
  )
})

test('decision 7: JSON may be 32 levels deep', async (t) => {
  t.same(checkJson(nested(31), limit), [])
  t.match(checkJson(nested(32), limit), [/at most 32 levels/])
  t.match(checkJson(nested(5000), limit), [/at most 32 levels/])
})

test('circles, and values that contain themselves many times over, are refused without walking them', async (t) => {
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  t.match(checkJson(circle, limit), [/32 levels/])
  let shared: unknown = []
  for (let level = 0; level < 30; level++) shared = [shared, shared]
  t.same(checkJson(shared, limit), [`Enter at most ${limit} bytes of JSON.`], 'its text would have 4 GiB')
})

test('decision 11: JSON text may have as many bytes as the limit says', async (t) => {
  t.same(checkJson(['x'.repeat(96)], 100), [])
  t.same(checkJson(['x'.repeat(97)], 100), ['Enter at most 100 bytes of JSON.'])
  t.same(checkJson(['ü'.repeat(49)], 100), ['Enter at most 100 bytes of JSON.'])
  t.same(
    checkJson(
      Array.from({ length: 1_000_000 }, () => 0),
      100,
    ),
    ['Enter at most 100 bytes of JSON.'],
  )
  t.same(checkJson({ ['k'.repeat(200)]: 1 }, 100), ['Enter at most 100 bytes of JSON.'])
  t.same(checkJson(['\u0001'.repeat(20)], 100), ['Enter at most 100 bytes of JSON.'], 'escapes count')
})

test('members that would change prototypes when merged are refused', async (t) => {
  for (const text of ['{"__proto__":{}}', '{"a":[{"__proto__":1}]}', '{"constructor":{"prototype":{}}}']) {
    t.match(checkJson(JSON.parse(text), limit), [/__proto__ or constructor\.prototype/], text)
  }
  t.same(checkJson({ constructor: 'Acme', prototype: 1 }, limit), [], 'the words alone are fine')
})

test('what JSON cannot carry is refused at any depth', async (t) => {
  class Point {
    x = 1
  }
  for (const value of [
    undefined,
    NaN,
    -Infinity,
    1n,
    Symbol('s'),
    () => 1,
    new Date(0),
    new Map(),
    new Point(),
    Object('text'),
    { toJSON: () => 1 },
  ]) {
    t.match(checkJson(value, limit), ['Enter a JSON value.'])
    t.match(checkJson({ a: [value] }, limit), ['Enter a JSON value.'])
  }
  const sparse: unknown[] = []
  sparse[1] = 1
  t.match(checkJson(sparse, limit), ['Enter a JSON value.'])
})

test('names of members are text like any other', async (t) => {
  t.match(checkJson({ 'a\0': 1 }, limit), [/NUL/])
  t.match(checkJson({ '\ud800': 1 }, limit), [/surrogates/])
})

function withoutPrototypes(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? 0 : value
  if (Array.isArray(value)) return value.map(withoutPrototypes)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutPrototypes(member)]))
}
