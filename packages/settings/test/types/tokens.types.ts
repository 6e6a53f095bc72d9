/** Compile-time assertions: this file is compiled with the tests and never runs. */
import { Type } from '@sinclair/typebox'
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'
import type { SettingsBuilder } from '#src/definitions/builder.js'
import { setting, type ValuesOf, type SettingToken, type SettingValue } from '#src/definitions/tokens.js'
import { type JsonValue, type SettingDefinition, SettingScope } from '#src/setting-definition.js'

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- two generic functions compare types exactly
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Assert<T extends true> = T

const common = { displayName: 'Test', scope: SettingScope.Application } as const

interface Rule {
  readonly from: string
  readonly to: string
}

const mail = {
  host: setting.text('mail.host', { ...common, default: 'localhost', pattern: '^[a-z.]+$' }),
  port: setting.number('mail.port', { ...common, default: 587, min: 1, max: 65535 }),
  timeout: setting.number('mail.timeout', { ...common, default: null }),
  secure: setting.bool('mail.secure', { ...common, default: false }),
  theme: setting.select('mail.theme', { ...common, allowedValues: ['light', 'dark'], default: 'light' }),
  priority: setting.select('mail.priority', { ...common, allowedValues: ['low', 'high'] }),
  mode: setting.select('mail.mode', {
    ...common,
    options: [
      { value: 'tls', label: 'TLS' },
      { value: 'plain', label: 'None' },
    ],
    default: 'tls',
  }),
  level: setting.select('mail.level', {
    ...common,
    allowedValues: ['a', 'b'],
    options: [
      { value: 'a', label: 'A' },
      { value: 'b', label: 'B' },
    ],
    unit: 'stars',
    keywords: ['mail'],
    showWhen: { key: 'mail.secure', equals: true },
  }),
  rules: setting.json<readonly Rule[]>()('mail.rules', { ...common, default: [] }),
  limits: setting.json<Rule>()('mail.limits', { ...common, schema: { type: 'object' } }),
  anything: setting.json('mail.anything', common),
  links: setting.json('mail.links', {
    ...common,
    schema: Type.Array(Type.Object({ label: Type.String(), port: Type.Optional(Type.Integer()) })),
    default: [],
    validate: (links) => (links.length > 3 ? 'Enter at most three links.' : undefined),
  }),
  flags: setting.json('mail.flags', { ...common, schema: Type.Object({ beta: Type.Boolean() }) }),
  options: setting.json('mail.options', { ...common, default: { retries: 3 } }),
  password: setting.password('mail.password', { ...common, sensitive: true }),
}

/** One line of declaration merging: an interface extends the keys of a token map. */
interface Keys extends ValuesOf<typeof mail> {}

export type Assertions = [
  // A value is never null where there is a default, and may be null where there is none.
  Assert<Equal<SettingValue<typeof mail.host>, string>>,
  Assert<Equal<SettingValue<typeof mail.port>, number>>,
  Assert<Equal<SettingValue<typeof mail.timeout>, number | null>>,
  Assert<Equal<SettingValue<typeof mail.secure>, boolean>>,
  Assert<Equal<SettingValue<typeof mail.theme>, 'light' | 'dark'>>,
  Assert<Equal<SettingValue<typeof mail.priority>, 'low' | 'high' | null>>,
  // Options are allowed values.
  Assert<Equal<SettingValue<typeof mail.mode>, 'tls' | 'plain'>>,
  Assert<Equal<SettingValue<typeof mail.level>, 'a' | 'b' | null>>,
  Assert<Equal<SettingValue<typeof mail.rules>, readonly Rule[]>>,
  Assert<Equal<SettingValue<typeof mail.limits>, Rule | null>>,
  Assert<Equal<SettingValue<typeof mail.anything>, JsonValue>>,
  Assert<Equal<SettingValue<typeof mail.options>, JsonValue>>,
  // A schema is the type, of values that nobody can change.
  Assert<
    Equal<SettingValue<typeof mail.links>, readonly { readonly label: string; readonly port?: number }[]>
  >,
  Assert<Equal<SettingValue<typeof mail.flags>, { readonly beta: boolean } | null>>,
  Assert<Equal<SettingValue<typeof mail.password>, string | null>>,
  // Keys are literal, and a map of tokens becomes a map of keys.
  Assert<Equal<typeof mail.port.key, 'mail.port'>>,
  Assert<Equal<ValuesOf<typeof mail>['mail.port'], number>>,
  Assert<Equal<ValuesOf<typeof mail>['mail.priority'], 'low' | 'high' | null>>,
  Assert<Equal<keyof ValuesOf<Pick<typeof mail, 'host' | 'port'>>, 'mail.host' | 'mail.port'>>,
  Assert<Equal<Keys['mail.theme'], 'light' | 'dark'>>,
]

// A token is a definition, and one of a narrower type is one of a wider.
const definition: SettingDefinition = mail.rules
const wider: SettingToken<string | number> = mail.port
// @ts-expect-error -- not the other way round
const narrower: SettingToken<5> = mail.port
// @ts-expect-error -- tokens of different values differ
const other: SettingToken<boolean> = mail.port
export const used = [definition, wider, narrower, other]

// Schemas of TypeBox 1 are interfaces without an index signature, such as this one.
interface ListSchema {
  readonly '~kind'?: 'Array'
  readonly type: 'array'
  readonly items: { readonly type: 'string' }
}
const listSchema: ListSchema = { type: 'array', items: { type: 'string' } }
setting.json('a.a', { ...common, schema: listSchema })
setting.json<readonly string[]>()('a.a', { ...common, schema: listSchema, default: ['a'] })
// @ts-expect-error -- a text is no schema
setting.json('a.a', { ...common, schema: 'array' })

// Wrong defaults.
// @ts-expect-error -- a text is no number
setting.number('a.a', { ...common, default: '587' })
// @ts-expect-error -- a number is no text
setting.text('a.a', { ...common, default: 587 })
// @ts-expect-error -- not among the allowed values
setting.select('a.a', { ...common, allowedValues: ['light', 'dark'], default: 'blue' })
// @ts-expect-error -- not of the declared type
setting.json<Rule>()('a.a', { ...common, default: { from: 1 } })
// @ts-expect-error -- JSON cannot carry functions
setting.json('a.a', { ...common, default: () => 1 })
// @ts-expect-error -- the typed default replaces the raw one
setting.number('a.a', { ...common, defaultValue: '587' })

// @ts-expect-error -- not among the options
setting.select('a.a', { ...common, options: [{ value: 'light', label: 'Light' }], default: 'blue' })

// Members that a type does not have.
// @ts-expect-error -- options are for Selects
setting.text('a.a', { ...common, options: [{ value: 'a', label: 'A' }] })
// @ts-expect-error -- an option of a value that is not allowed
setting.select('a.a', { ...common, allowedValues: ['a'], options: [{ value: 'b', label: 'B' }] })
// @ts-expect-error -- an option needs its label
setting.select('a.a', { ...common, options: [{ value: 'a' }] })
// @ts-expect-error -- a condition names a value
setting.text('a.a', { ...common, showWhen: { key: 'a.b' } })
// @ts-expect-error -- bounds are for numbers
setting.text('a.a', { ...common, min: 1 })
// @ts-expect-error -- patterns are for text
setting.number('a.a', { ...common, pattern: 'x' })
// @ts-expect-error -- an Email has its own format
setting.email('a.a', { ...common, pattern: 'x' })
// @ts-expect-error -- a Select needs its values
setting.select('a.a', { ...common })
// @ts-expect-error -- at least one
setting.select('a.a', { ...common, allowedValues: [] })
// @ts-expect-error -- a misspelt member
setting.text('a.a', { ...common, requird: true })

// Members that every setting needs.
// @ts-expect-error -- no scope
setting.text('a.a', { displayName: 'A' })
// @ts-expect-error -- no display name
setting.text('a.a', { scope: SettingScope.User })
// @ts-expect-error -- no such scope
setting.text('a.a', { displayName: 'A', scope: 4 })

// Rules.
setting.number('a.a', { ...common, validate: (value) => (value.toFixed() === '1' ? 'One.' : undefined) })
setting.select('a.a', {
  ...common,
  allowedValues: ['x', 'y'],
  validate: (value) => (value === 'x' ? ['X.'] : []),
})
setting.json<Rule>()('a.a', {
  ...common,
  validate: ({ from, to }) => (from === to ? 'Enter two ends.' : undefined),
})
// @ts-expect-error -- the rule of a number gets numbers
setting.number('a.a', { ...common, validate: (value: string) => value })
// @ts-expect-error -- a rule is synchronous
setting.number('a.a', { ...common, validate: async () => 'Late.' })
// @ts-expect-error -- a rule returns messages
setting.number('a.a', { ...common, validate: () => true })

// Rules about several settings.
declare const builder: SettingsBuilder
builder.rule({ port: mail.port, priority: mail.priority }, ({ port, priority }) => {
  const types: [Equal<typeof port, number>, Equal<typeof priority, 'low' | 'high' | null>] = [true, true]
  return types.length > 0 && port === 25 && priority === 'high'
    ? ['Enter another port for urgent mail.']
    : undefined
})
// @ts-expect-error -- no such setting
builder.rule({ port: mail.port }, ({ prot }) => prot)

const validated = setting.schema(
  'mail.validated',
  z.object({ to: z.string(), weight: z.number().default(1), tags: z.array(z.string()).optional() }),
  { ...common, default: { to: 'a', weight: 1 } },
)
const nullable = setting.schema('mail.nullable', type({ to: 'string' }), common)
const listed = setting.schema('mail.listed', v.array(v.string()), { ...common, default: [] })
interface Validated {
  readonly to: string
  readonly weight: number
  readonly tags?: readonly string[] | undefined
}
export type ValidatorAssertions = [
  Assert<Equal<SettingValue<typeof validated>, Validated>>,
  Assert<Equal<SettingValue<typeof nullable>, { readonly to: string } | null>>,
  Assert<Equal<SettingValue<typeof listed>, readonly string[]>>,
]
// @ts-expect-error -- a default is an output
setting.schema('mail.bad', z.object({ to: z.string() }), { ...common, default: { to: 7 } })
// @ts-expect-error -- a rule gets the output
setting.schema('mail.bad', z.string(), { ...common, validate: (value: number) => String(value) })
