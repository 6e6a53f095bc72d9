/** Keeps who may call what under review: a committed file that the application is compared with and tried against. */
import { readFile, writeFile } from 'node:fs/promises'
import type { Caller } from '@fastify-modular/core'
import type { FastifyInstance } from 'fastify'
import { FMOD_PUBLIC_ROUTES_ACCESS_CHANGED } from '../misuse-errors.ts'
import type { AttemptOutcome } from '../review/attempt.ts'
import type { AccessRow } from '../review/census.ts'
import type { PublicRoutes } from '../review/public-routes.ts'

export interface ExpectAccessOptions {
  /** Looks at the routes of one module alone. */
  readonly source?: string
}

/** What the file says about a route and method. */
interface Entry {
  readonly route: string
  readonly access: string
  readonly opensSomePaths?: true
  readonly checkedByHandler?: string
}

/**
 * Compares the access of every route with a JSON file, and tries each one as an anonymous caller, as one without the
 * permission and as one with it. `UPDATE_SNAPSHOTS=1` writes the file.
 * @throws {FMOD_PUBLIC_ROUTES_ACCESS_CHANGED} naming what is new, gone or different, and what could not be tried
 */
export async function expectAccess(
  app: FastifyInstance,
  file: URL,
  { source }: ExpectAccessOptions = {},
): Promise<void> {
  await app.ready()
  const { access } = app.getDecorator<PublicRoutes>('publicRoutes')
  const rows = access.table().filter((row) => source === undefined || row.module === source)
  const actual = rows.map(toEntry)
  if (process.env['UPDATE_SNAPSHOTS'] === '1') {
    await writeFile(file, `[\n${actual.map((entry) => `  ${JSON.stringify(entry)}`).join(',\n')}\n]\n`)
  }
  const expected = JSON.parse(await readFile(file, 'utf8')) as readonly Entry[] // written by this function
  const problems = compare(expected, actual)
  for (const row of rows.filter(isTried)) problems.push(...(await tryRow(app, row, expected)))
  if (problems.length === 0) return
  throw new FMOD_PUBLIC_ROUTES_ACCESS_CHANGED(
    file.pathname,
    [...new Set(problems)].map((each) => `- ${each}`).join('\n'),
  )
}

function toEntry({ method, url, access, opensSomePaths, checkedByHandler }: AccessRow): Entry {
  return {
    route: `${method} ${url}`,
    access,
    ...(opensSomePaths && { opensSomePaths }),
    ...(checkedByHandler !== null && { checkedByHandler }),
  }
}

/** Routes with the same method and URL differ in their constraints: the file has a row for each. */
function compare(expected: readonly Entry[], actual: readonly Entry[]): string[] {
  const left = [...expected]
  const added: Entry[] = []
  for (const entry of actual) {
    const at = left.findIndex((other) => describe(other) === describe(entry))
    if (at === -1) added.push(entry)
    else left.splice(at, 1)
  }
  const problems = added.map((entry) => {
    const at = left.findIndex(({ route }) => route === entry.route)
    const [before] = at === -1 ? [] : left.splice(at, 1)
    return before === undefined
      ? `${entry.route} is new: ${wordsOf(entry)}`
      : `${entry.route} was ${wordsOf(before)} and is ${wordsOf(entry)}`
  })
  return [...problems, ...left.map((entry) => `${entry.route} is gone: it was ${wordsOf(entry)}`)]
}

function describe(entry: Entry): string {
  return `${entry.route}: ${wordsOf(entry)}`
}

function wordsOf({ access, opensSomePaths, checkedByHandler }: Entry): string {
  const parts = [
    access,
    opensSomePaths === true ? 'rules open some paths' : '',
    checkedByHandler === undefined ? '' : `${checkedByHandler} checked by the handler`,
  ]
  return parts.filter((part) => part !== '').join(', ')
}

/** The not-found handler has no path of its own, and CORS answers preflight requests before the gate. */
function isTried({ note }: AccessRow): boolean {
  return note !== 'not found' && note !== 'preflight'
}

async function tryRow(app: FastifyInstance, row: AccessRow, expected: readonly Entry[]): Promise<string[]> {
  const route = `${row.method} ${row.url}`
  const entries = expected.filter((entry) => entry.route === route)
  if (entries.length === 0) return [] // reported as new
  const outcomes = await Promise.all(
    entries.map(async ({ access }) => {
      const callers = callersFor(access)
      const { access: census } = app.getDecorator<PublicRoutes>('publicRoutes')
      const got = await census.attempt(
        row,
        callers.map(({ caller }) => caller),
      )
      return got === null ? null : faults(route, access, got)
    }),
  )
  if (outcomes.includes(null)) return [`${route} could not be tried: no path was found that leads to it`]
  if (row.opensSomePaths) return []
  const tried = outcomes.filter((each) => each !== null)
  return tried.some((each) => each.length === 0) ? [] : (tried[0] ?? [])
}

interface Tried {
  readonly name: string
  readonly caller: Caller | null
  readonly outcome: AttemptOutcome
}

function callersFor(access: string): readonly Tried[] {
  const isPublic = access === 'public'
  const isPermission = !isPublic && access !== 'signed-in'
  const permissions = isPermission ? permissionsIn(access) : []
  const caller = (held: readonly string[]): Caller => ({
    id: 'expect-access',
    permissions: held,
    isAdmin: false,
  })
  return [
    { name: 'an anonymous caller', caller: null, outcome: isPublic ? 'let in' : 'sign in' },
    {
      name: 'a caller without permissions',
      caller: caller([]),
      outcome: isPermission ? 'forbidden' : 'let in',
    },
    { name: 'a caller with what is needed', caller: caller(permissions), outcome: 'let in' },
    // Each permission is needed: without one of them the route stays closed.
    ...(access.startsWith('any of ') ? permissions : []).map((held) => ({
      name: `a caller with ${held}`,
      caller: caller([held]),
      outcome: 'let in' as const,
    })),
    ...(isPermission && !access.startsWith('any of ') ? permissions : []).map((lacked) => ({
      name: `a caller without ${lacked}`,
      caller: caller(permissions.filter((held) => held !== lacked)),
      outcome: 'forbidden' as const,
    })),
  ]
}

/** `Notes.Edit`, `all of A, B`, `any of A, B`, `A and any of B, C`. */
function permissionsIn(access: string): readonly string[] {
  return access.split(' and ').flatMap((part) => part.replace(/^(?:all|any) of /, '').split(', '))
}

function faults(route: string, access: string, got: readonly AttemptOutcome[]): string[] {
  return callersFor(access).flatMap(({ name, outcome }, index) =>
    got[index] === outcome ? [] : [`${route} should be ${access}, and ${name} gets "${got[index]}"`],
  )
}
