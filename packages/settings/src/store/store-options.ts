/** What both databases refuse in their arguments before anything is opened. */
import { unknownMembers } from '@fastify-modular/core'
import { FMOD_SETTINGS_INVALID_STORE_OPTION } from '../misuse-errors.ts'

/** The arguments of a store, each with the names that it may have. */
export interface StoreArguments {
  readonly source: readonly [given: object, known: Readonly<Record<string, true>>]
  readonly options: readonly [given: object, known: Readonly<Record<string, true>>]
}

/**
 * A table prefix that is left out without a word would put two tenants into one table.
 * @throws {FMOD_SETTINGS_INVALID_STORE_OPTION} naming a member that there is not, or an unknown mode of migration
 */
export function checkStoreArguments(store: string, { source, options }: StoreArguments): void {
  for (const [name] of [unknownMembers(...source), unknownMembers(...options)]) {
    if (name === undefined) continue
    const [, first] = source
    const [, second] = options
    throw new FMOD_SETTINGS_INVALID_STORE_OPTION(
      name,
      store,
      `the first argument has ${namesOf(first)}, the second ${namesOf(second)}`,
    )
  }
  const { migrate } = options[0] as { readonly migrate?: unknown }
  if (migrate !== undefined && migrate !== 'auto' && migrate !== 'check' && migrate !== false) {
    throw new FMOD_SETTINGS_INVALID_STORE_OPTION('migrate', store, 'it is "auto", "check" or false')
  }
}

function namesOf(known: Readonly<Record<string, true>>): string {
  return Object.keys(known).join(', ')
}
