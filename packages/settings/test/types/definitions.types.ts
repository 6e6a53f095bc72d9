/** Compile-time assertions: this file is compiled with the tests and never runs. */
import type { Static } from '@sinclair/typebox'
import type { definitionSchema } from '#src/definitions/definition-schema.js'
import type { CompleteDefinition, JsonValue } from '#src/setting-definition.js'

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- two generic functions compare types exactly
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Assert<T extends true> = T
/** TypeBox makes members that can be written. */
type ReadOnly<T> = JsonValue extends T
  ? JsonValue
  : T extends object
    ? { readonly [K in keyof T]: ReadOnly<T[K]> }
    : T

/** The schema that checks definitions and describes them to clients, and the type that editors show, say the same. */
export type SchemaAndType = Assert<
  Equal<
    { [K in keyof CompleteDefinition]: ReadOnly<CompleteDefinition[K]> },
    ReadOnly<Static<typeof definitionSchema>>
  >
>
