/** The host's choices for the HTTP API of settings. */
import type { Caller } from '@fastify-modular/core'
import type { FastifyRequest } from 'fastify'

/** Finds the caller of a request; null where no user is signed in. */
export type FindCaller = (request: FastifyRequest) => Caller | null | Promise<Caller | null>

/**
 * Returns the names of people by id, as far as it knows them. Called with the ids of one answer, each at most once a
 * minute. An answer waits 300 ms for it; names that come later are in the next one, until the signal ends it after 10 s.
 */
export type FindPeople = (
  ids: readonly string[],
  signal: AbortSignal,
) => Promise<Readonly<Record<string, string>>>

/** Who gets sensitive values from `/resolved`: every signed-in caller; only users their own; or callers with `Settings.Update`. */
export type ResolvedSecrets = 'signed-in' | 'owner' | 'permission'

/** What can be translated of a definition; options by their value (`options.dark.label`), words of the search by the English ones (`keywords.dark mode`), members of a form by their names (`properties.search.title`), what they offer by its value (`properties.day.options.sun.label`; of a list of choices `options.sun.label`). */
export type TranslatedField =
  | 'displayName'
  | 'description'
  | 'groupName'
  | 'placeholder'
  | 'unit'
  | 'confirm'
  | `keywords.${string}`
  | `properties.${string}.title`
  | `properties.${string}.options.${string}.label`
  | `options.${string}.label`
  | `options.${string}.description`

/**
 * The text of a field in a language such as `de` or `de-AT`, or undefined where there is none: English then. Called
 * once for each field and each locale of the option `locales`, spelled as in BCP 47 (`de-AT`); synchronous.
 */
export type Translate = (key: string, field: TranslatedField, locale: string) => string | undefined

/** The option `translate` and the languages that it knows. */
export interface Translation {
  readonly translate: Translate
  readonly locales: readonly string[]
}
