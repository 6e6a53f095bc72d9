/** What `app.access` is: who may call what, in the whole application. */
import { branded } from '@fastify-modular/core/internal'
import type { SecuritySchemes } from '../provider.ts'
import type { Explain } from './explain.ts'
import { describeAccess } from './openapi.ts'
import { type AccessRow, printTable } from './table.ts'

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
  explain: Explain
  /** An OpenAPI document with `security`, `x-permission`, 401 and 403 of each operation; the given one stays as it is. */
  openapi<Document extends object>(document: Document): Document
}

interface AccessParts extends Pick<ApplicationAccess, 'table' | 'explain'> {
  readonly schemes: SecuritySchemes
}

export function createAccess({ table, explain, schemes }: AccessParts): ApplicationAccess {
  return branded({
    table,
    print: () => printTable(table()),
    explain,
    openapi: (document) => describeAccess(document, { rows: table(), schemes }),
  })
}
