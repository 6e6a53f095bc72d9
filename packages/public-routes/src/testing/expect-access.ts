/** Keeps who may call what under review: a committed file that the application is compared with and tried against. */
import { readFile, writeFile } from 'node:fs/promises'
import type { Caller } from '@fastify-modular/core'
import { getDecorator } from '@fastify-modular/core/internal'
import type { FastifyInstance } from 'fastify'
import { requirementOfText } from '../access/declaration.ts'
import type { Permissions } from '../access/permissions.ts'
import { FMOD_PUBLIC_ROUTES_ACCESS_CHANGED } from '../misuse-errors.ts'
import type { AttemptOutcome } from '../review/attempt.ts'
import type { AccessRow } from '../review/census.ts'
import type { PublicRoutes } from '../review/public-routes.ts'

export interface ExpectAccessOptions {
  /** Looks at the routes of this module alone. */
  readonly source?: string
}

/** What the file says about a method of a route. */
export interface AccessEntry {
  /** `PUT /notes/:id` */
  readonly route: string
  readonly constraints?: string
  readonly access: string
  readonly opensSomePaths?: true
  readonly checkedByHandler?: string
  /** `before the gate`, `websocket`. */
  readonly note?: string
}

/**
 * Compares the access of every route with a JSON file, and tries each one as an anonymous caller, as one without the
 * permission and as one with it, through the router and the hooks up to the gate. `UPDATE_SNAPSHOTS=1` writes the file.
 * @throws {FMOD_PUBLIC_ROUTES_ACCESS_CHANGED} naming what is new, gone or different, and what could not be tried
 */
export async function expectAccess(
  app: FastifyInstance,
  file: URL,
  { source }: ExpectAccessOptions = {},
): Promise<void> {
  await app.ready()
  const actual = accessEntries(app, source)
  if (process.env['UPDATE_SNAPSHOTS'] === '1') {
    await writeFile(file, `[\n${actual.map((entry) => `  ${JSON.stringify(entry)}`).join(',\n')}\n]\n`)
  }
  const expected = await readEntries(file)
  const problems = [
    ...(source !== undefined && actual.length === 0 ? [`no route belongs to the module "${source}"`] : []),
    ...compareAccess(expected, actual),
    ...(await tryAccess(app, expected, actual)),
  ]
  if (problems.length === 0) return
  throw new FMOD_PUBLIC_ROUTES_ACCESS_CHANGED(file.pathname, problems.map((each) => `- ${each}`).join('\n'))
}

/** What the application would have in the file. */
export function accessEntries(app: FastifyInstance, source?: string): readonly AccessEntry[] {
  const { access } = getDecorator<PublicRoutes>(app, 'publicRoutes')
  return access
    .table()
    .filter((row) => source === undefined || row.module === source)
    .map(toEntry)
}

function toEntry(row: AccessRow): AccessEntry {
  return {
    route: `${row.method} ${row.url}`,
    ...(row.constraints !== '' && { constraints: row.constraints }),
    access: row.access,
    ...(row.opensSomePaths && { opensSomePaths: true }),
    ...(row.checkedByHandler !== null && { checkedByHandler: row.checkedByHandler }),
    ...(row.note !== '' && { note: row.note }),
  }
}

async function readEntries(file: URL): Promise<readonly AccessEntry[]> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as readonly AccessEntry[] // written by `expectAccess`
  } catch (err) {
    if (err instanceof Error && 'code' in err && err.code === 'ENOENT') return []
    throw err
  }
}

/** The differences in words. */
export function compareAccess(
  expected: readonly AccessEntry[],
  actual: readonly AccessEntry[],
): readonly string[] {
  const now = new Map(actual.map((entry) => [nameOf(entry), wordsOf(entry)]))
  const before = new Map(expected.map((entry) => [nameOf(entry), wordsOf(entry)]))
  return [
    ...[...now].flatMap(([name, words]) => {
      const former = before.get(name)
      if (former === undefined) return [`${name} is new: ${words}`]
      return former === words ? [] : [`${name} was ${former} and is ${words}`]
    }),
    ...[...before].flatMap(([name, words]) => (now.has(name) ? [] : [`${name} is gone: it was ${words}`])),
  ]
}

function nameOf({ route, constraints }: AccessEntry): string {
  return constraints === undefined ? route : `${route} (${constraints})`
}

function wordsOf({ access, opensSomePaths, checkedByHandler, note }: AccessEntry): string {
  const parts = [
    access,
    ...(opensSomePaths === true ? ['rules open some paths'] : []),
    ...(checkedByHandler === undefined ? [] : [`${checkedByHandler} checked by the handler`]),
    ...(note === undefined ? [] : [note]),
  ]
  return parts.join(', ')
}

/** Tries what the file says by requests alone; `actual` only excuses routes that are gone. */
export async function tryAccess(
  app: FastifyInstance,
  expected: readonly AccessEntry[],
  actual: readonly AccessEntry[] = expected,
): Promise<readonly string[]> {
  const { access } = getDecorator<PublicRoutes>(app, 'publicRoutes')
  const all = getDecorator<Permissions>(app, 'permissions').list()
  const present = new Set(actual.map(nameOf))
  const problems: string[] = []
  for (const entry of expected) {
    if (!present.has(nameOf(entry)) || !hasPath(entry)) continue
    const tried = triedCallers(
      entry,
      all.map(({ name }) => name),
    )
    const [, method = '', url = ''] = /^(\S+) (.*)$/.exec(entry.route) ?? []
    const route = { method, url, constraints: entry.constraints ?? '' }
    const callers = tried.map(({ caller }) => caller)
    const faults = (await access.attempt(route, callers)).map((got) => faultsOf(entry, tried, got))
    if (faults.length === 0) {
      problems.push(`${nameOf(entry)} could not be tried: no path was found that leads to it`)
    } else if (entry.opensSomePaths !== true || faults.every((each) => each.length > 0)) {
      // Where rules open some paths, one path that they leave closed is enough.
      problems.push(...(faults.find((each) => each.length > 0) ?? []))
    }
  }
  return problems
}

/** The not-found handler has no path of its own, and CORS answers preflight requests before the gate. */
function hasPath({ note }: AccessEntry): boolean {
  return note !== 'not found' && note !== 'preflight'
}

interface TriedCaller {
  readonly name: string
  readonly caller: Caller | null
  readonly outcome: AttemptOutcome
}

/** Callers of every kind, with what should become of them; `all` are the permissions of the application. */
function triedCallers({ access }: AccessEntry, all: readonly string[]): readonly TriedCaller[] {
  const { kind, clauses } = requirementOfText(access)
  const isPublic = kind === 'public'
  const enough = clauses.map(([first = '']) => first)
  // One permission of each clause is enough, whichever it is.
  const choices = clauses.flatMap((clause, at) => clause.map((permission) => enough.with(at, permission)))
  return [
    { name: 'an anonymous caller', caller: null, outcome: isPublic ? 'let in' : 'sign in' },
    {
      name: 'a caller without permissions',
      caller: callerWith([]),
      outcome: kind === 'permission' ? 'forbidden' : 'let in',
    },
    ...choices.map((held) => ({
      name: `a caller with ${held.join(' and ')}`,
      caller: callerWith(held),
      outcome: 'let in' as const,
    })),
    // No other permission stands in for what a clause names.
    ...clauses.map((clause) => ({
      name: `a caller with every permission but ${clause.join(' and ')}`,
      caller: callerWith(all.filter((permission) => !clause.includes(permission))),
      outcome: 'forbidden' as const,
    })),
  ]
}

function callerWith(permissions: readonly string[]): Caller {
  return { id: 'expect-access', permissions, isAdmin: false }
}

function faultsOf(
  entry: AccessEntry,
  tried: readonly TriedCaller[],
  got: readonly AttemptOutcome[],
): readonly string[] {
  return tried.flatMap(({ name, outcome }, at) =>
    got[at] === outcome
      ? []
      : [`${nameOf(entry)} should be ${entry.access}, and for ${name} it is: ${got[at]}`],
  )
}
