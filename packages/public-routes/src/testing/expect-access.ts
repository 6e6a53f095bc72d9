/** Keeps who may call what under review: compares the application with a committed file, and tries it. */
import type { Caller } from '@fastify-modular/core'
import { getDecorator } from '@fastify-modular/core/internal'
import { requirementOfText } from '../access/declaration.ts'
import { errorCodes } from '../misuse-errors.ts'
import { type AttemptOutcome, type Review, reviewDecorator, type Sample } from '../review/attempt.ts'
import type { Permissions } from '../access/permissions.ts'
import {
  type AccessEntry,
  accessEntries,
  compareAccess,
  type Listed,
  listRoutes,
  nameOf,
  readEntries,
  type RouteEntry,
  writeEntries,
} from '../review/committed-file.ts'

/** An application, whatever its server speaks. */
interface Application extends Listed {
  readonly permissions: Permissions
  ready(): PromiseLike<unknown>
}

export interface ExpectAccessOptions {
  /** Looks at the routes and the rules of this module alone. */
  readonly source?: string
  /**
   * Values for routes that cannot be tried without, by their URLs: those with a regular expression, with a constraint other
   * than a version or a host, and those of which other routes take all common values: `{ '/n/:id(^\\d+$)': '42' }`. Routes
   * that differ by constraints alone are named as in the messages: `'/n (region eu)'`.
   */
  readonly samples?: Readonly<Record<string, Sample>>
}

/**
 * Compares who may call each route, every rule but the framework's own, and what else opens something with a JSON file.
 * Then it tries each route as an anonymous caller, as one without the permission and as one with it, through the router and
 * the hooks up to the gate. `UPDATE_SNAPSHOTS=1` writes the file, unless `CI` is set. HEAD routes that Fastify derives are tried,
 * and not listed where they need what their GET route needs. The requests have common values and come from this machine, and
 * the provider is asked once, whom it knows without credentials: what an early hook does with other requests needs tests
 * of its own.
 * @throws {FMOD_PUBLIC_ROUTES_ACCESS_CHANGED} naming what is new, gone or different, and what could not be tried
 * @throws {FMOD_PUBLIC_ROUTES_SNAPSHOT_IN_CI} `UPDATE_SNAPSHOTS` is `1` or `true`, and `CI` is set to more than nothing, `0` or `false`
 */
export async function expectAccess(
  app: Application,
  file: URL,
  { source, samples }: ExpectAccessOptions = {},
): Promise<void> {
  const isWriting = ['1', 'true'].includes(process.env['UPDATE_SNAPSHOTS'] ?? '')
  if (isWriting && !['', '0', 'false'].includes(process.env['CI'] ?? ''))
    throw new errorCodes.FMOD_PUBLIC_ROUTES_SNAPSHOT_IN_CI(file.pathname)
  await app.ready()
  const actual = await accessEntries(app, source)
  if (isWriting) await writeEntries(file, actual)
  const expected = await readEntries(file)
  const problems = [
    ...(source !== undefined && actual.length === 0 ? [`no route belongs to the module "${source}"`] : []),
    ...compareAccess(expected, actual),
    ...(await tryAccess(app, expected, { source, samples })),
  ]
  if (problems.length === 0) return
  throw new errorCodes.FMOD_PUBLIC_ROUTES_ACCESS_CHANGED(
    file.pathname,
    problems.map((each) => `- ${each}`).join('\n'),
  )
}

/** Tries by requests whether the routes of the application answer as the file says. */
export async function tryAccess(
  app: Application,
  expected: readonly AccessEntry[],
  { source, samples = {} }: { source?: string | undefined; samples?: ExpectAccessOptions['samples'] } = {},
): Promise<readonly string[]> {
  const { attempt } = getDecorator<Review>(app, reviewDecorator)
  const permissions = app.permissions.list().map(({ name }) => name)
  const byName = new Map(expected.map((entry) => [nameOf(entry), entry]))
  const problems: string[] = []
  for (const { row, name, origin } of listRoutes(app, source)) {
    // The not-found handler has no path of its own, and CORS answers preflight requests before the gate.
    if (row.note === 'not found' || row.note === 'preflight') continue
    const entry = byName.get(name) ?? byName.get(origin)
    if (entry === undefined || !('route' in entry)) continue // it is new: the comparison says so
    const tried = triedCallers(entry, permissions)
    const { outcomes, fault } = await attempt(
      row,
      tried.map(({ caller }) => caller),
      samples[name.slice(row.method.length + 1)] ?? samples[row.url],
    )
    const faults = outcomes.map((got) =>
      tried.flatMap(({ name: who, outcome }, at) =>
        got[at] === outcome ? [] : [`${name} should be ${entry.access}, and for ${who} it is: ${got[at]}`],
      ),
    )
    if (faults.length === 0) {
      problems.push(`${name} was not tried: ${fault}`)
    } else if (entry.mayBeOpenedBy === undefined || faults.every((each) => each.length > 0)) {
      // Where rules could open some paths, one path that they leave closed is enough.
      problems.push(...(faults.find((each) => each.length > 0) ?? []))
    }
  }
  return problems
}

interface TriedCaller {
  readonly name: string
  readonly caller: Caller | null
  readonly outcome: AttemptOutcome
}

/** Callers of every kind with the outcomes that they should get; `all` are the permissions of the application. */
function triedCallers({ access }: RouteEntry, all: readonly string[]): readonly TriedCaller[] {
  const { kind, clauses } = requirementOfText(access)
  const id = 'expect-access'
  const enough = clauses.map(([first = '']) => first)
  // One permission of each clause is enough, whichever it is.
  const choices = clauses.flatMap((clause, at) => clause.map((permission) => enough.with(at, permission)))
  return [
    { name: 'an anonymous caller', caller: null, outcome: kind === 'public' ? 'let in' : 'sign in' },
    {
      name: 'a caller without permissions',
      caller: { id },
      outcome: kind === 'permission' ? 'forbidden' : 'let in',
    },
    ...choices.map((held) => ({
      name: `a caller with ${held.join(' and ')}`,
      caller: { id, permissions: held },
      outcome: 'let in' as const,
    })),
    // No other permission is enough.
    ...clauses.map((clause) => ({
      name: `a caller with every permission but ${clause.join(' and ')}`,
      caller: { id, permissions: all.filter((permission) => !clause.includes(permission)) },
      outcome: 'forbidden' as const,
    })),
  ]
}
