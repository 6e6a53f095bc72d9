/** Forms for lists and flat objects, made of the schemas of Json settings; all else is edited as JSON (decision 73). */
import type { JsonValue } from '@fastify-modular/settings/client'
import type { Definition } from './setting.ts'

/** One value within a form: a member of an object, or an item of a list. */
export interface FormField {
  /** The member; empty where the item itself is the value. */
  readonly name: string
  readonly label: string
  readonly kind: 'text' | 'number' | 'bool' | 'choice'
  readonly options: readonly { readonly value: Scalar; readonly label: string }[]
  readonly isOptional: boolean
  /** What an optional member counts as while it is left out, and a new one begins with. */
  readonly initial: Scalar
}

export interface Form {
  readonly isList: boolean
  readonly fields: readonly FormField[]
}

type Scalar = string | number | boolean
type Members = { readonly [name: string]: JsonValue }

/** The keywords that forms look at. */
interface Schema {
  readonly type?: string
  readonly title?: string
  readonly default?: JsonValue
  readonly const?: JsonValue
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly JsonValue[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: unknown
}

/** Null where the schema has no form. */
export function formOf({ schema }: Pick<Definition, 'schema'>): Form | null {
  if (schema === null) return null
  const { type, items } = schema as Schema // of our own API
  const isList = type === 'array' && items !== undefined
  const fields = isList ? fieldsOf(items) : type === 'object' ? fieldsOf(schema) : null
  return fields && { isList, fields }
}

function fieldsOf(schema: Schema): readonly FormField[] | null {
  const { type, properties = {}, required = [], additionalProperties: others } = schema
  if (type !== 'object') {
    const field = toField('', schema, false)
    return field && [field]
  }
  const fields = Object.entries(properties).map(([name, each]) =>
    toField(name, each, !required.includes(name)),
  )
  const isFlat = fields.length > 0 && typeof others !== 'object'
  return isFlat && fields.every((field) => field !== null) ? fields : null
}

function toField(name: string, schema: Schema, isOptional: boolean): FormField | null {
  const { type, title, default: preset } = schema
  const choices = schema.anyOf ?? schema.enum?.map((value): Schema => ({ const: value })) ?? []
  const options = choices.flatMap(({ const: value, title: label }) =>
    isScalar(value) ? [{ value, label: label ?? String(value) }] : [],
  )
  const isChoice = options.length > 0 && options.length === choices.length
  const kind = isChoice ? 'choice' : kinds[type ?? '']
  if (!kind) return null
  const empty = kind === 'bool' ? false : (options[0]?.value ?? '')
  const initial = isScalar(preset) ? preset : empty
  return { name, label: title ?? name, kind, options, isOptional, initial }
}

const kinds: Readonly<Record<string, 'text' | 'number' | 'bool'>> = {
  string: 'text',
  number: 'number',
  integer: 'number',
  boolean: 'bool',
}

function isScalar(value: JsonValue | undefined): value is Scalar {
  return value != null && typeof value !== 'object'
}

/** The parts of a value that a form shows: the items of a list, or the object alone. Null where the value has another shape. */
export function partsOf({ isList, fields }: Form, text: string): readonly JsonValue[] | null {
  const value = parse(text, isList)
  if (value === undefined || isList !== Array.isArray(value)) return null
  const parts = Array.isArray(value) ? value : [value]
  const names = new Set(fields.map(({ name }) => name))
  const fits = (part: JsonValue): boolean =>
    names.has('')
      ? isScalar(part)
      : isMembers(part) && Object.entries(part).every(([name, each]) => names.has(name) && isScalar(each))
  return parts.every(fits) ? parts : null
}

/** Nothing is an empty list, or an object without members. */
function parse(text: string, isList: boolean): JsonValue | undefined {
  try {
    return JSON.parse(text.trim() || (isList ? '[]' : '{}')) as JsonValue // parsed JSON
  } catch {
    return undefined
  }
}

function isMembers(value: JsonValue): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The reverse of `partsOf`, written as controls show JSON. */
export function toText({ isList }: Form, parts: readonly JsonValue[]): string {
  return JSON.stringify(isList ? parts : parts[0], null, 2)
}

/** What a field of a part holds; undefined where it is left out. */
export function valueIn(part: JsonValue, { name }: FormField): JsonValue | undefined {
  return name === '' || !isMembers(part) ? part : part[name]
}

/** The part with another value in one of its fields; an optional text or number that is empty is left out. */
export function withValue(part: JsonValue, field: FormField, value: Scalar): JsonValue {
  const { name, isOptional, kind } = field
  if (name === '' || !isMembers(part)) return value
  const { [name]: _before, ...others } = part
  if (isOptional && value === '' && kind !== 'choice') return others
  return { ...part, [name]: value }
}

/** A part to begin with. */
export function newPart({ fields }: Form): JsonValue {
  const [first] = fields
  if (first?.name === '') return first.initial
  const needed = fields.filter(({ isOptional }) => !isOptional)
  return Object.fromEntries(needed.map(({ name, initial }) => [name, initial]))
}

/** Where an error of a field is reported. */
export function pointerTo(form: Form, index: number, { name }: FormField): string {
  const member = name === '' ? '' : `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
  return form.isList ? `/${index}${member}` : member
}
