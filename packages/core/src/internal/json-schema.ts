/** Checks values against a JSON Schema with Ajv as Fastify sets it up, formats included; no value is changed. */
import AjvCompiler from '@fastify/ajv-compiler'

/** Returns the first rule that a value breaks, such as `/noteId: must be string`, or undefined. Never the value: it may be a secret. */
export type SchemaCheck = (value: unknown) => string | undefined

type Compile = ReturnType<ReturnType<typeof AjvCompiler>>

let compile: Compile | undefined

/** @throws {Error} a keyword, type or format that JSON Schema (draft 7) and ajv-formats do not have */
export function compileSchema(schema: object): SchemaCheck {
  compile ??= AjvCompiler()(
    {},
    {
      customOptions: {
        coerceTypes: false,
        useDefaults: false,
        removeAdditional: false,
        ownProperties: true, // every object inherits a member `constructor`
        logger: false,
      },
    },
  )
  const check = compile({ schema }) // described as Fastify describes the schema of a route
  return (value) => {
    if (check(value) === true) return undefined
    const [first] = check.errors ?? []
    return `${first?.instancePath || 'the payload'}: ${first?.message ?? 'invalid'}`
  }
}
