/** The two spellings of the API's root, `/api/settings` and `/api/settings/`: both answer, one is described. */
import type { FastifyInstance, FastifySchema } from 'fastify'

/** Options of a route at `/` for one spelling. */
interface RootSpelling {
  of(route: { readonly schema: FastifySchema }): {
    readonly schema: FastifySchema
    readonly prefixTrailingSlash: 'slash' | 'no-slash'
  }
}

const plain: RootSpelling = { of: ({ schema }) => ({ schema, prefixTrailingSlash: 'no-slash' }) }

/** `hide` is how OpenAPI generators are told to leave a route out. */
const withSlash: RootSpelling = {
  of: ({ schema }) => ({ schema: Object.assign({ hide: true }, schema), prefixTrailingSlash: 'slash' }),
}

/**
 * The spellings that are routes of their own below this prefix. Left to itself, Fastify would add both by one set of
 * options, and what reads them later, such as @fastify/swagger, would see the one with the slash only.
 */
export function rootSpellings({ prefix, initialConfig }: FastifyInstance): readonly RootSpelling[] {
  const isIgnored = initialConfig.ignoreTrailingSlash || initialConfig.routerOptions?.ignoreTrailingSlash
  return isIgnored || prefix === '' || prefix.endsWith('/') ? [plain] : [plain, withSlash]
}
