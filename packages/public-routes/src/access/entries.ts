/** The option `access`: what the host declares for routes of other plugins, by their URLs. */
import { METHODS } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { errorCodes } from '../misuse-errors.ts'
import { type Declared, parseAccess } from './declaration.ts'

/** An entry with what it declares. */
export interface Entry extends Declared {
  readonly method: string | null
  /** Without the asterisk, where it has one. */
  readonly url: string
  readonly isSubtree: boolean
}

const entryKey = /^(?:([A-Za-z-]+) )?(\/.*|\*)$/

export class AccessEntries {
  /** The most specific first: a whole URL before a subtree, a longer one before a shorter one, a method before none. */
  readonly all: readonly Entry[]
  readonly #isCaseSensitive: boolean

  /** @throws {FMOD_PUBLIC_ROUTES_INVALID_ACCESS} */
  constructor(access: Readonly<Record<string, unknown>>, { initialConfig }: FastifyInstance) {
    this.#isCaseSensitive =
      (initialConfig.routerOptions?.caseSensitive ?? initialConfig.caseSensitive) !== false
    this.all = Object.entries(access)
      .map(([key, each]) => toEntry(key, each))
      .toSorted(
        (one, other) =>
          Number(one.isSubtree) - Number(other.isSubtree) ||
          other.url.length - one.url.length ||
          Number(one.method === null) - Number(other.method === null),
      )
  }

  /** Those that name a method of a route; the first one counts. */
  naming(
    { url, toleratesSlash }: { readonly url: string; readonly toleratesSlash: boolean },
    method: string,
  ): readonly Entry[] {
    const spelled = this.#spell(url, toleratesSlash)
    return this.all.filter((entry) => {
      if (entry.method !== null && entry.method !== method) return false
      const ofEntry = this.#spell(entry.url, toleratesSlash)
      return spelled === ofEntry || (entry.isSubtree && spelled.startsWith(`${ofEntry}/`))
    })
  }

  /** One spelling for all that the router takes for the same URL. */
  #spell(url: string, toleratesSlash: boolean): string {
    const cased = this.#isCaseSensitive ? url : url.toLowerCase()
    return toleratesSlash && cased.length > 1 ? cased.replace(/\/$/, '') : cased
  }
}

function toEntry(key: string, access: unknown): Entry {
  const source = `option access "${key}"`
  const [, method = null, url = ''] = entryKey.exec(key) ?? []
  const isKnown = method === null || METHODS.includes(method)
  if (url === '' || !isKnown) {
    throw new errorCodes.FMOD_PUBLIC_ROUTES_INVALID_ACCESS(
      source,
      'the key is not a URL such as "/docs/*" or "GET /docs"',
    )
  }
  const isSubtree = url.endsWith('/*')
  const requirement = parseAccess(access, source)
  if ((url === '/*' || url === '*') && requirement.kind === 'public') {
    throw new errorCodes.FMOD_PUBLIC_ROUTES_INVALID_ACCESS(source, 'it would open the whole application')
  }
  const literal = isSubtree ? url.slice(0, -2) : url
  return { method, url: literal, isSubtree, requirement, source, by: 'option' }
}
