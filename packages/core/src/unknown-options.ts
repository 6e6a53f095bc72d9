/** Options that a plugin does not have: a misspelt one would be left out without a word, perhaps with its protection. */

/** What Fastify itself reads from the options of `register`. */
const ofRegister: ReadonlySet<string> = new Set(['prefix', 'logLevel', 'logSerializers'])

/**
 * The names among the options that the plugin does not know, for its error at boot. `known` has a member for each option
 * of the plugin; make it a `Record<keyof Options, …>`, and the compiler keeps it complete.
 */
export function unknownOptions(options: object, known: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(options).filter((name) => !Object.hasOwn(known, name) && !ofRegister.has(name))
}
