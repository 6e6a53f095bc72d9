/** An OpenAPI 3.1 document as its page needs it: operations by tag, schemas as rows, a body to begin with. */

/** As much of a schema as is shown. */
interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly title?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>

interface OperationObject {
  readonly tags?: readonly string[]
  readonly operationId?: string
  readonly summary?: string
  readonly description?: string
  readonly security?: readonly object[]
  readonly 'x-permission'?: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly description?: string
    readonly schema?: Schema
  }[]
  readonly requestBody?: { readonly content?: Content }
  readonly responses?: Readonly<Record<string, { readonly description?: string; readonly content?: Content }>>
}

/** The document, as `@fastify/swagger` builds it. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly description?: string; readonly version: string }
  readonly paths?: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> }
}

/** A member of an object, or a parameter. */
export interface Row {
  readonly name: string
  /** Where a parameter belongs: `path`, `query` or `header`. */
  readonly place: string
  readonly type: string
  readonly isRequired: boolean
  readonly description: string
}

/** A successful answer. */
export interface Success {
  readonly status: string
  readonly description: string
  /** Null for an answer without a body. */
  readonly type: string | null
  readonly rows: readonly Row[]
}

export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string
  /** Who may call it: `public`, `signed-in` or the permission that callers need. */
  readonly access: string
  readonly parameters: readonly Row[]
  readonly body: readonly Row[]
  /** JSON to begin a request with; null for an operation without a body. */
  readonly example: string | null
  readonly successes: readonly Success[]
  /** Statuses that are answered by problem details. */
  readonly problems: readonly string[]
}

export interface Api {
  readonly title: string
  readonly description: string
  readonly version: string
  readonly groups: readonly { readonly tag: string; readonly operations: readonly Operation[] }[]
}

/** Reads the document. */
export function readApi({ info, paths = {}, components }: ApiDocument): Api {
  const { resolve, typeOf, rowsOf, exampleOf } = createSchemaReader(components?.schemas ?? {})
  const groups = new Map<string, Operation[]>()
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const [tag = 'other'] = operation.tags ?? []
      groups.set(tag, [...(groups.get(tag) ?? []), read(path, method, operation)])
    }
  }
  return {
    title: info.title,
    description: info.description ?? '',
    version: info.version,
    groups: [...groups].map(([tag, operations]) => ({ tag, operations })),
  }

  function read(path: string, method: string, operation: OperationObject): Operation {
    const { operationId, summary = '', description = '', parameters = [] } = operation
    const body = schemaOf(operation.requestBody?.content)
    const responses = Object.entries(operation.responses ?? {})
    return {
      id: operationId ?? `${method}${path.replaceAll(/[^\w]+/g, '-')}`,
      method,
      path,
      summary,
      description,
      access: accessOf(operation),
      parameters: parameters.map(({ name, in: place, required, schema = {}, ...rest }) => ({
        name,
        place,
        type: typeOf(schema),
        isRequired: required === true,
        description: rest.description ?? describe(resolve(schema)),
      })),
      body: body ? rowsOf(body) : [],
      example: body ? JSON.stringify(exampleOf(body), null, 2) : null,
      successes: responses
        .filter(([status]) => /^[23]/.test(status))
        .map(([status, response]) => {
          const schema = schemaOf(response.content)
          const isEmpty = schema === undefined || resolve(schema).type === 'null'
          return {
            status,
            description: response.description ?? '',
            type: isEmpty ? null : typeOf(schema),
            rows: isEmpty ? [] : rowsOf(schema),
          }
        }),
      problems: responses.map(([status]) => status).filter((status) => /^[45]/.test(status)),
    }
  }
}

function accessOf({ security, 'x-permission': permission }: OperationObject): string {
  if (permission !== undefined) return permission
  // An empty requirement is met by every request.
  const isOpen = security?.length === 0 || security?.some((scheme) => Object.keys(scheme).length === 0)
  return isOpen ? 'public' : 'signed-in'
}

function schemaOf(content: Content = {}): Schema | undefined {
  return Object.values(content)[0]?.schema
}

/** Deep enough for every schema of an application, and an end for those that refer to themselves. */
const maxDepth = 4

/** Reads schemas, following references into these. */
function createSchemaReader(schemas: Readonly<Record<string, Schema>>) {
  const nameOf = (schema: Schema): string | undefined => schema.$ref?.split('/').at(-1)

  function resolve(schema: Schema): Schema {
    const name = nameOf(schema)
    return name === undefined ? schema : (schemas[name] ?? {})
  }

  function typeOf(schema: Schema): string {
    const name = nameOf(schema)
    if (name !== undefined) return name
    const { type, items, format, const: only, anyOf, oneOf } = schema
    const members = schema.enum ?? (only === undefined ? undefined : [only])
    if (members) return members.map((member) => JSON.stringify(member)).join(' | ')
    const alternatives = anyOf ?? oneOf
    if (alternatives) return [...new Set(alternatives.map(typeOf))].join(' | ')
    if (items) return `${typeOf(items)}[]`
    const plain = typeof type === 'string' ? type : type?.join(' | ')
    return [plain ?? 'any', format && `(${format})`].filter(Boolean).join(' ')
  }

  function rowsOf(schema: Schema, prefix = '', depth = 0): Row[] {
    const { properties, required = [], items, allOf } = resolve(schema)
    if (depth > maxDepth) return []
    if (allOf) return allOf.flatMap((part) => rowsOf(part, prefix, depth + 1))
    if (items) return rowsOf(items, prefix, depth + 1)
    return Object.entries(properties ?? {}).flatMap(([name, member]) => [
      {
        name: prefix + name,
        place: 'body',
        type: typeOf(member),
        isRequired: required.includes(name),
        description: describe(resolve(member)),
      },
      ...(nameOf(member) === undefined ? rowsOf(member, `${prefix}${name}.`, depth + 1) : []),
    ])
  }

  function exampleOf(schema: Schema, depth = 0): unknown {
    if (depth > maxDepth) return null
    const { type, properties, required = [], items, anyOf, oneOf, ...rest } = resolve(schema)
    if (rest.default !== undefined) return rest.default
    if (rest.const !== undefined) return rest.const
    if (rest.enum) return rest.enum[0]
    const [first] = anyOf ?? oneOf ?? []
    if (first) return exampleOf(first, depth + 1)
    if (items) return [exampleOf(items, depth + 1)]
    if (properties) {
      const wanted = Object.entries(properties).filter(([name]) => required.includes(name))
      return Object.fromEntries(wanted.map(([name, member]) => [name, exampleOf(member, depth + 1)]))
    }
    if (type === 'integer' || type === 'number') return rest.minimum ?? 1
    if (type === 'boolean') return true
    return type === 'object' ? {} : type === 'null' ? null : 'text'
  }

  return { resolve, typeOf, rowsOf, exampleOf }
}

/** The description of a member, and its bounds in words. */
function describe({ description, minimum, maximum, minLength, maxLength, ...rest }: Schema): string {
  const bounds = [
    minimum !== undefined && `at least ${minimum}`,
    maximum !== undefined && `at most ${maximum}`,
    minLength !== undefined && `${minLength} or more characters`,
    maxLength !== undefined && `up to ${maxLength} characters`,
    rest.default !== undefined && `${JSON.stringify(rest.default)} if left out`,
  ].filter((bound) => bound !== false)
  return [description, bounds.join(', ')].filter(Boolean).join(' · ')
}
