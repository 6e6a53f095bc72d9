/** The committed file that says who may call what: its entries, and how it differs from the application. */
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { getDecorator } from '@fastify-modular/core/internal'
import type { Fact } from '../access/permissions.ts'
import type { PublicRouteRegistry } from '../registry.ts'
import { frameworkDefault } from '../rule.ts'
import { type Review, reviewDecorator } from './attempt.ts'
import { guests } from './facts.ts'
import type { AccessRow } from './table.ts'

/** What is read of an application, whatever its server speaks: HTTP/1.1, HTTP/2, TLS. */
export interface Listed {
  readonly access: { table(): readonly AccessRow[] }
  readonly publicRoutes: Pick<PublicRouteRegistry, 'list'>
}

/** What the file says about a method of a route. */
export interface RouteEntry {
  /** `PUT /notes/:id` */
  readonly route: string
  readonly constraints?: string
  readonly access: string
  /** The rules that could open some paths of a route that is not public. */
  readonly mayBeOpenedBy?: readonly string[]
  readonly checkedByHandler?: string
  /** `before the gate`, `websocket`. */
  readonly note?: string
}

/** What the file says about a rule. Each change of a rule is a difference, even if it opens nothing today. */
interface RuleEntry {
  /** `GET regex ^/media/` */
  readonly rule: string
  /** `module "media"`, `environment SM_AUTH_PUBLIC_PATHS`. */
  readonly from: string
}

/** Such entries are in the file. Routes come first, sorted by URL, then rules, then what else opens something. */
export type AccessEntry = RouteEntry | RuleEntry | Fact

/** What differs between an application and its committed file, in words; `update` writes the file. */
export async function accessChanges(
  app: Listed,
  file: URL,
  { update = false }: { readonly update?: boolean } = {},
): Promise<readonly string[]> {
  const expected = await readEntries(file)
  // A command of the command line sends no request.
  const isOfGuests = (entry: AccessEntry): boolean => 'about' in entry && entry.about === guests
  const found = await accessEntries(app)
  const actual = [...found.filter((entry) => !isOfGuests(entry)), ...expected.filter(isOfGuests)]
  const changes = compareAccess(expected, actual)
  if (update && changes.length > 0) await writeEntries(file, actual)
  return changes
}

export async function writeEntries(file: URL, entries: readonly AccessEntry[]): Promise<void> {
  await writeFile(file, `[\n${entries.map((entry) => `  ${JSON.stringify(entry)}`).join(',\n')}\n]\n`)
}

/** What the application would have in the file. */
export async function accessEntries(app: Listed, source?: string): Promise<readonly AccessEntry[]> {
  const routes = listRoutes(app, source)
  const words = new Map(routes.map(({ name, entry }) => [name, wordsOf(entry)]))
  const rules = app.publicRoutes
    .list()
    .filter((rule) => rule.source !== frameworkDefault && (source === undefined || rule.module === source))
    .map((rule): RuleEntry => ({ rule: String(rule.route), from: rule.source }))
  return [
    ...routes.filter(({ entry, origin }) => words.get(origin) !== wordsOf(entry)).map(({ entry }) => entry),
    ...rules.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1)),
    ...(source === undefined ? await getDecorator<Review>(app, reviewDecorator).facts() : []),
  ]
}

interface ListedRoute {
  readonly row: AccessRow
  readonly entry: RouteEntry
  readonly name: string
  /** The name of the route from which Fastify derived this one; empty for all others. */
  readonly origin: string
}

/** One for each row of the table. */
export function listRoutes(app: Listed, source: string | undefined): readonly ListedRoute[] {
  const rows = app.access.table().filter((row) => source === undefined || row.module === source)
  return rows.map((row) => {
    const entry = toEntry(row)
    const { derivedFrom: route } = row
    return { row, entry, name: nameOf(entry), origin: route === null ? '' : nameOf({ ...entry, route }) }
  })
}

function toEntry(row: AccessRow): RouteEntry {
  return {
    route: `${row.method} ${row.url}`,
    ...(row.constraints !== '' && { constraints: row.constraints }),
    access: row.access,
    ...(row.mayBeOpenedBy.length > 0 && { mayBeOpenedBy: row.mayBeOpenedBy }),
    ...(row.checkedByHandler !== null && { checkedByHandler: row.checkedByHandler }),
    ...(row.note !== '' && { note: row.note }),
  }
}

export async function readEntries(file: URL): Promise<readonly AccessEntry[]> {
  if (!existsSync(file)) return []
  return JSON.parse(await readFile(file, 'utf8')) as readonly AccessEntry[] // written by `expectAccess`
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
      if (former === undefined) return [`${name} is new${words === '' ? '' : `: ${words}`}`]
      return former === words ? [] : [`${name} was ${former} and is ${words}`]
    }),
    ...[...before].flatMap(([name, words]) =>
      now.has(name) ? [] : [`${name} is gone${words === '' ? '' : `: it was ${words}`}`],
    ),
  ]
}

export function nameOf(entry: AccessEntry): string {
  if ('rule' in entry) return `the rule "${entry.rule}" (${entry.from})`
  if ('about' in entry) return entry.about
  return entry.constraints === undefined ? entry.route : `${entry.route} (${entry.constraints})`
}

function wordsOf(entry: AccessEntry): string {
  if ('rule' in entry) return '' // its name says all of it
  if ('about' in entry) return entry.is
  const { access, mayBeOpenedBy = [], checkedByHandler, note } = entry
  const parts = [
    access,
    ...mayBeOpenedBy.map((rule) => `could be opened by ${rule}`),
    ...(checkedByHandler === undefined ? [] : [`${checkedByHandler} checked by the handler`]),
    ...(note === undefined ? [] : [note]),
  ]
  return parts.join(', ')
}
