/** Thousands of requests, sensible and not, by everybody: no answer that the document does not know. */
import Fastify, { type FastifyRequest } from 'fastify'
import { test } from 'tap'
import { type Person, startHost } from '../host.js'

type Schema = Readonly<Record<string, any>> // oxlint-disable-line typescript/no-explicit-any -- of a document

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema: Schema
}

interface Operation {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses: Readonly<Record<string, Schema>>
}

/** The same numbers in each run (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Makes requests for operations: mostly valid, with strange texts and members, missing ones and wrong types among them. */
class Generator {
  readonly #document: Schema
  readonly #random: () => number
  /** Identifiers that answers gave. */
  readonly ids: string[] = []

  constructor(document: Schema, seed: number) {
    this.#document = document
    this.#random = randomFrom(seed)
  }

  request(path: string, { parameters = [], requestBody }: Operation) {
    let target = path
    const query = new URLSearchParams()
    const headers: Record<string, string> = {}
    for (const { name, in: place, required = false, schema } of parameters) {
      if (!required && this.#chance(0.6)) continue
      const text = String(this.#text(schema))
      // The router refuses longer ones, and the gate what is not canonical: they meet no operation.
      if (place === 'path')
        target = target.replace(`{${name}}`, /^[\w.-]{1,100}$/.test(text) ? text : 'a%20b')
      else if (place === 'query') query.set(name, text)
      else headers[name] = this.#pick(['"r0"', '*', 'W/"r1", "x"', 'return=representation', 'nonsense'])
    }
    if (this.#chance(0.1)) query.set('unknown', '1')
    const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? []
    const body = media && (this.#chance(0.05) ? '{"' : JSON.stringify(this.#value(media.schema)))
    if (type !== undefined && body !== undefined)
      headers['content-type'] = this.#chance(0.05) ? 'text/plain' : type
    return { path: query.size > 0 ? `${target}?${query}` : target, body, headers }
  }

  #value(schema: Schema, depth = 0): unknown {
    if (this.#chance(0.04)) return this.#pick([null, 0, -1, 1e300, '', 'x'.repeat(300), [], {}, true])
    if (schema['$ref']) return this.#value(this.#resolve(schema['$ref']), depth)
    const variants = schema['enum'] ?? schema['anyOf'] ?? schema['oneOf']
    if (schema['enum']) return this.#pick(variants)
    if (variants) return this.#value(this.#pick(variants), depth)
    if (schema['type'] === 'array')
      return Array.from({ length: Math.floor(this.#random() * 3) }, () =>
        this.#value(schema['items'] ?? {}, depth + 1),
      )
    if (schema['type'] === 'object') return this.#object(schema, depth)
    if (schema['type'] === 'boolean') return this.#chance(0.5)
    if (schema['type'] === 'integer' || schema['type'] === 'number') return Math.floor(this.#random() * 4)
    if (schema['type'] === 'null') return null
    return schema['type'] === 'string'
      ? this.#text(schema)
      : this.#pick(['text', 7, true, null, '#336699', { a: [1] }])
  }

  #object({ properties = {}, required = [] }: Schema, depth: number): object {
    const members = Object.entries(properties as Record<string, Schema>)
      .filter(([name]) => (required.includes(name) ? !this.#chance(0.03) : this.#chance(0.5)))
      .map(([name, schema]) => [name, depth > 5 ? null : this.#value(schema, depth + 1)])
    return Object.fromEntries(this.#chance(0.05) ? [...members, ['unknown', 1]] : members)
  }

  #text(schema: Schema): unknown {
    if (schema['enum']) return this.#pick(schema['enum'])
    if (this.#chance(0.2))
      return this.#pick(['', ' ', '%', 'é\u0000', '../x', 'x'.repeat(150), 'constructor'])
    return this.#pick([
      'app.title',
      'app.theme',
      'mail.port',
      'application',
      '0',
      '1',
      '2',
      'true',
      'merge',
      ...this.ids,
    ])
  }

  #resolve(reference: string): Schema {
    const names = reference.slice(2).split('/')
    return names.reduce((at, name) => at[name], this.#document)
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T
  }

  #chance(share: number): boolean {
    return this.#random() < share
  }
}

/** Headers of HTTP, of the connection and of the pages' security, which any answer may have. */
const everywhere = new Set(
  `cache-control connection content-encoding content-length content-security-policy content-type cross-origin-opener-policy
  cross-origin-resource-policy date keep-alive referrer-policy set-cookie transfer-encoding vary x-content-type-options`.split(
    /\s+/,
  ),
)

type Validate = ReturnType<FastifyRequest['compileValidationSchema']>

/** What is wrong with JSON by schemas of the document, in words; by the Ajv of Fastify, which changes nothing here. */
async function createBodyCheck({ components }: Schema) {
  const customOptions = { coerceTypes: false, removeAdditional: false, useDefaults: false, strict: false }
  const app = Fastify({ ajv: { customOptions } })
  let compile: FastifyRequest['compileValidationSchema'] | undefined
  app.get('/', async (request) => {
    compile = request.compileValidationSchema.bind(request)
  })
  await app.inject('/')
  const validators = new Map<Schema, Validate | undefined>()
  return function faultOf(schema: Schema, json: unknown): string | null {
    if (!validators.has(schema)) validators.set(schema, compile?.({ ...schema, components }))
    const validate = validators.get(schema)
    if (validate?.(json) === true) return null
    return (
      validate?.errors?.map(({ instancePath, message }) => `${instancePath} ${message}`).join() ?? 'no schema'
    )
  }
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly json: unknown
}

/** What an answer has that the document does not say. */
function undocumented(
  operation: Operation,
  document: Schema,
  { status, headers, json }: Answer,
  faultOf: (schema: Schema, json: unknown) => string | null,
): string[] {
  const found = operation.responses[status]
  if (!found) return [`status ${status}`]
  const reference: string | undefined = found['$ref']
  const response =
    reference === undefined ? found : document['components'].responses[reference.split('/').at(-1) ?? '']
  const type = headers.get('content-type')?.split(';')[0]
  const isKnown = type === undefined || type in (response.content ?? {})
  const schema = type?.endsWith('json') ? response.content?.[type]?.schema : undefined
  const fault = schema && faultOf(schema, json)
  const known = new Set(Object.keys(response.headers ?? {}).map((name) => name.toLowerCase()))
  return [
    ...(isKnown ? [] : [`${status}: content type ${type}`]),
    ...(fault ? [`${status}: body ${fault}`] : []),
    ...[...headers.keys()]
      .filter((name) => !everywhere.has(name) && !known.has(name))
      .map((name) => `${status}: header ${name}`),
  ]
}

test('no request of anybody gets an answer that the document does not know', async (t) => {
  const host = await startHost(t)
  const document: Schema = (await host.anonymous.ask('/openapi.json')).json
  const people: Record<string, Person> = { nobody: host.anonymous }
  for (const name of ['alice', 'editor', 'admin']) people[name] = await host.signIn(name)
  const operations = Object.entries(document['paths'] as Record<string, Record<string, Operation>>)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    )
    .toSorted((a, b) => Number(a.path === '/logout') - Number(b.path === '/logout')) // it ends the sessions

  const generator = new Generator(document, 7)
  const faultOf = await createBodyCheck(document)
  const strange = new Map<string, string>()
  const statuses = new Map<string, Set<number>>()
  const rounds = Number(process.env['FUZZ_ROUNDS'] ?? 8)
  for (const { path, method, operation } of operations) {
    const name = `${method} ${path}`
    const seen = new Set<number>()
    statuses.set(name, seen)
    for (const [who, person] of Object.entries(people)) {
      for (let round = 0; round < rounds; round++) {
        const asked = generator.request(path, operation)
        const answer = await person.ask(asked.path, {
          method: method.toUpperCase(),
          headers: asked.headers,
          ...(asked.body !== undefined && { body: asked.body }),
        })
        seen.add(answer.status)
        const id = answer.json?.id
        if (typeof id === 'string') generator.ids.push(id)
        for (const what of undocumented(operation, document, answer, faultOf))
          strange.set(`${name}: ${what}`, `${who} ${JSON.stringify(asked)} ${answer.text.slice(0, 200)}`)
      }
    }
  }
  t.same(Object.fromEntries(strange), {})
  // It is not the refusals alone that were tried.
  const reached = [...statuses]
    .filter(([, seen]) => [...seen].some((status) => status < 300))
    .map(([name]) => name)
  t.ok(
    reached.length >= 20,
    `${reached.length} of ${operations.length} operations succeeded: ${reached.join(', ')}`,
  )
})
