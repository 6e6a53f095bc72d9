/** What `app.access` is: who may call what, in the whole application. */
import type { IncomingHttpHeaders } from 'node:http'
import { branded } from '@fastify-modular/core/internal'
import { errorCodes } from '../misuse-errors.ts'
import type { SecuritySchemes } from '../provider.ts'
import { accessChanges } from './committed-file.ts'
import { explain, type Explanation, type Parts } from './explain.ts'
import { describeAccess } from './openapi.ts'
import { type AccessRow, listAccess, printTable } from './table.ts'

export interface ApplicationAccess {
  /**
   * A row for each route and method, sorted by URL, and one for the not-found handler.
   * @throws {FMOD_PUBLIC_ROUTES_NOT_READY}
   */
  table(): readonly AccessRow[]
  /** The table as text, in lines of at most 160 characters. */
  print(): string
  /**
   * How the gate decides a request and why. The request goes through the router up to the gate; hooks that run before
   * the gate see it. The target is taken as it is, as a client would put it on the wire.
   * @throws {FMOD_PUBLIC_ROUTES_NOT_READY}
   */
  explain(
    method: string,
    target: string,
    options?: { readonly headers?: IncomingHttpHeaders },
  ): Promise<Explanation>
  /**
   * What differs between the application and its committed file, in words; `update` writes the file. Unlike `expectAccess`, it
   * tries no route, and does not ask the provider: what the file says of requests without credentials stays.
   * @throws {FMOD_PUBLIC_ROUTES_NOT_READY}
   */
  compare(file: URL, options?: { readonly update?: boolean }): Promise<readonly string[]>
  /** An OpenAPI document with `security`, `x-permission`, 401 and 403 of each operation; the given one stays as it is. */
  openapi<Document extends object>(document: Document): Document
}

export function createAccess(parts: Parts, schemes: SecuritySchemes): ApplicationAccess {
  return branded({
    table,
    print: () => printTable(table()),
    async explain(method, target, { headers = {} } = {}) {
      checkReady(`request ${method} ${target}`)
      return explain({ method, target, headers }, parts)
    },
    compare: async (file, options) => accessChanges(parts.app, file, options),
    openapi: (document) => describeAccess(document, { rows: table(), schemes }),
  })

  function table(): readonly AccessRow[] {
    checkReady('access of the application')
    return listAccess(parts)
  }

  /** Before the rules freeze, Fastify has not bound the gate to the routes, and would run the handler of a request. */
  function checkReady(what: string): void {
    if (!Object.isFrozen(parts.rules)) throw new errorCodes.FMOD_PUBLIC_ROUTES_NOT_READY(what)
  }
}
