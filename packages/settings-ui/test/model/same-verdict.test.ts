/** The same verdict about the same value, whichever way it comes in: `set`, PUT, bulk, import; and what the form says before. */
import { events } from '@fastify-modular/core'
import {
  type JsonValue,
  setting,
  settings,
  SettingScope,
  SettingType,
  type SettingToken,
} from '@fastify-modular/settings'
import type { SettingDefinitionDto } from '@fastify-modular/settings/client'
import { textsOf } from '#src/texts/texts.js'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import t, { test } from 'tap'
import { checkInput, parseInput, toInput } from '#src/browser/model/input.js'

t.setTimeout(900_000) // of tap, which a busy machine would exceed; no test here looks at a clock

const scope = SettingScope.Application
const common = { displayName: 'Test', scope } as const

/** Trims, and fills in: a validator whose output is not what it was given. */
const validator = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? { value: { size: 1, ...value } }
        : typeof value === 'string' && value.length < 20
          ? { value: value.trim() }
          : { issues: [{ message: 'Enter a short text or an object.' }] },
  },
} as const

/** Every type, with its own rules and without. */
const tokens: readonly SettingToken<unknown>[] = [
  setting.text('t.text', common),
  setting.text('t.required', { ...common, required: true, default: 'x' }),
  setting.text('t.pattern', { ...common, pattern: '^[a-z0-9-]{2,5}$', maxLength: 4 }),
  setting.number('t.number', common),
  setting.number('t.range', { ...common, min: -5, max: 100, required: true, default: 1 }),
  setting.bool('t.bool', common),
  setting.json('t.json', common),
  setting.json('t.list', { ...common, schema: Type.Array(Type.Integer(), { maxItems: 3 }) }),
  setting.schema('t.standard', validator, common),
  setting.select('t.select', { ...common, allowedValues: ['light', 'dark', '1'] }),
  setting.color('t.color', common),
  setting.url('t.url', common),
  setting.email('t.email', common),
  setting.password('t.password', { ...common, sensitive: true, maxLength: 6 }),
  setting.multilineText('t.multiline', { ...common, required: true, default: 'x' }),
  setting.dateTime('t.date', common),
]

/** Mulberry32: the same values in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const likely: readonly JsonValue[] = Object.values<readonly JsonValue[]>({
  texts: [
    '',
    ' ',
    'x',
    'abc',
    'a-1',
    'light',
    '1',
    'true',
    'null',
    '587',
    '#3b82f6',
    '#3B82F',
    '\u0000',
    '\ud800',
    '💥',
  ],
  addresses: [
    'https://example.com',
    'HTTP://a',
    'https://user@x.org',
    'ftp://x',
    'a@example.com',
    'a@b@c',
    'é@example.com',
  ],
  moments: [
    '2025-01-31T14:30',
    '2025-02-30T14:30:00Z',
    '2025-01-31T14:30:00+02:00',
    '2025-01-31',
    '  padded  ',
    'long'.repeat(9),
  ],
  scalars: [0, -5, -6, 100, 100.5, 1e21, 2 ** 53, 1e-7, -0, true, false, null],
  nested: [[], [1], [1, 2, 3, 4], [1.5], {}, { a: 1 }, { size: 2 }, [['']], { a: '\ud800' }],
  named: [{ toJSON: 1 }, { a: { toJSON: 'x' } }],
}).flat()

function createRandom(random: () => number): () => JsonValue {
  const below = (bound: number): number => Math.floor(random() * bound)
  const text = (): string =>
    String.fromCodePoint(
      ...Array.from({ length: below(7) }, () => (below(9) === 0 ? below(0x2fff) : 32 + below(95))),
    )
  const any = (depth: number): JsonValue => {
    switch (below(depth > 2 ? 5 : 7)) {
      case 0:
        return likely[below(likely.length)] ?? null
      case 1:
        return text()
      case 2:
        return (random() - 0.5) * 10 ** below(23)
      case 3:
        return below(120) - 10
      case 4:
        return (likely[below(likely.length)] ?? null) as JsonValue
      case 5:
        return Array.from({ length: below(5) }, () => any(depth + 1))
      default:
        return Object.fromEntries(Array.from({ length: below(4) }, () => [text(), any(depth + 1)]))
    }
  }
  return () => any(0)
}

const values = 100_000
const perRound = tokens.length

test(`${values} values of every type: set, PUT, bulk, import and the form agree about each`, async (t) => {
  const unpublished: unknown[] = []
  const write = (line: string) => {
    const record = JSON.parse(line) as { readonly msg: string }
    if (/could not be published/.test(record.msg)) unpublished.push(record)
  }
  const app = Fastify({ logger: { level: 'error', stream: { write } } })
  t.teardown(() => app.close())
  await app.register(events)
  await app.register(settings, {
    definitions: tokens,
    findCaller: () => ({ id: 'admin', isAdmin: true }),
    history: false,
  })
  await app.ready()
  const definitions = new Map<string, SettingDefinitionDto>(
    (await app.inject('/api/settings/definitions'))
      .json<SettingDefinitionDto[]>()
      .map((each) => [each.key, each]),
  )
  const next = createRandom(randomNumbers(20_251))
  const disagreements: unknown[] = []
  let accepted = 0

  for (let round = 0; round * perRound < values; round++) {
    const entries = tokens.map(({ key }) => ({ key, scope, value: next() }))
    const bulk = refusedBy(await send('PUT', '/bulk?dryRun=true', entries))
    const imported = refusedBy(await send('POST', '/import?dryRun=true', { format: 1, settings: entries }))
    for (const entry of entries) {
      const { key, value } = entry
      const put = refusedBy(await send('PUT', '', entry)).get(key)
      const afterPut = app.settings.get(key)
      const set = await app.settings.set(key, value).then(() => undefined, messagesOf)
      const afterSet = app.settings.get(key)
      const verdicts = [set, put, bulk.get(key), imported.get(key)].map((messages) =>
        JSON.stringify(messages),
      )
      const isAccepted = set === undefined
      if (isAccepted) accepted++
      if (new Set(verdicts).size > 1 || JSON.stringify(afterPut) !== JSON.stringify(afterSet))
        disagreements.push({ key, value, verdicts, afterPut, afterSet })
      if (isAccepted && !formTakes(definitions.get(key), value, afterSet))
        disagreements.push({ key, value, form: 'refuses or changes what the API accepts' })
    }
  }
  t.same(disagreements.slice(0, 5), [])
  t.equal(disagreements.length, 0)
  t.same(unpublished.slice(0, 5), [], 'every value that is stored fits an event')
  t.ok(accepted > values / 10 && accepted < values * 0.9, `${accepted} values were accepted`)

  async function send(method: 'PUT' | 'POST', path: string, payload: object) {
    return app.inject({ method, url: `/api/settings${path}`, payload })
  }
})

/** The messages by key of a refusal; none of an answer that accepts. */
function refusedBy({ statusCode, body }: { readonly statusCode: number; readonly body: string }) {
  if (statusCode === 200 || statusCode === 204) return new Map<string, readonly string[]>()
  if (statusCode !== 422) throw new Error(`answered ${statusCode}: ${body}`)
  return new Map(Object.entries(JSON.parse(body).errors as Record<string, readonly string[]>))
}

function messagesOf(error: { readonly errors?: readonly string[] }): readonly string[] {
  if (!error.errors) throw error
  return error.errors
}

/** Whether the form, which is filled with the stored value, finds nothing wrong with it and would send it again as it is. */
function formTakes(
  definition: SettingDefinitionDto | undefined,
  value: JsonValue,
  stored: JsonValue,
): boolean {
  if (!definition || value === null || definition.sensitive) return definition !== undefined
  const input = toInput(definition, stored)
  if (checkInput(definition, input, stored, textsOf('en')) !== undefined) return false
  const parsed = parseInput(definition, input, stored)
  // An empty control and a moment have several forms.
  if (stored === '' || definition.type === SettingType.DateTime) return 'value' in parsed
  return 'value' in parsed && JSON.stringify(parsed.value) === JSON.stringify(stored)
}
