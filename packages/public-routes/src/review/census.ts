/** The census: every route and method of the application, who may call it, and what says so. */
import { canMatch, type Decider } from '../gate/decide.ts'
import { isPreflight } from '../gate/route-access.ts'
import type { RouteRecord } from '../gate/route-record.ts'
import { FMOD_PUBLIC_ROUTES_NOT_READY } from '../misuse-errors.ts'
import type { RegisteredRule, RuleSet } from '../rules.ts'
import type { Attempt } from './attempt.ts'
import { formatTable, pathsOf } from './surface.ts'

/** One method of a route. */
export interface AccessRow {
  /** `*` for the not-found handler, which answers every method. */
  readonly method: string
  /** As the route was registered, with its prefix. */
  readonly url: string
  /** What else the router looks at: `version 1.2.0`; empty otherwise. */
  readonly constraints: string
  /** `public`, `signed-in`, or permissions: `Notes.Edit`, `Notes.Edit and Notes.Import`, `Notes.Edit or Ops.Read`. */
  readonly access: string
  /** Whether rules open some of the paths of the route to every caller, beside its `access`. */
  readonly opensSomePaths: boolean
  /** What says so: `route config`, `rule "GET exact /" (framework default)`, `default of module "notes"`, `undeclared`. */
  readonly why: string
  /** The module that registered the route; null for routes of no module. */
  readonly module: string | null
  /** A permission that the handler checks by itself; null where the route documents none. */
  readonly checkedByHandler: string | null
  /** What else is particular: `before the gate`, `websocket`, `preflight`, `not found`; empty otherwise. */
  readonly note: string
}

/** The access of the whole application. */
export interface AccessCensus {
  /**
   * A row for each route and method, those from before the gate included, sorted by URL.
   * @throws {FMOD_PUBLIC_ROUTES_NOT_READY}
   */
  table(): readonly AccessRow[]
  /** The table as text. */
  print(): string
  /** Tries a route as these callers, through the router up to the gate; no handler runs. */
  readonly attempt: Attempt
}

interface CensusParts {
  readonly rules: RuleSet
  readonly records: readonly RouteRecord[]
  readonly decider: Decider
  readonly attempt: Attempt
}

export function createCensus({ rules, records, decider, attempt }: CensusParts): AccessCensus {
  return { table, print: () => printCensus(table()), attempt }

  function table(): readonly AccessRow[] {
    // Earlier, a verdict would be kept that later rules change.
    if (!rules.isFrozen) throw new FMOD_PUBLIC_ROUTES_NOT_READY('access of the application')
    const rows = records.flatMap((record) =>
      record.methods.map((method) => describe({ record, method, rules, decider })),
    )
    return [...rows.toSorted(byUrl), notFound]
  }
}

const notFound: AccessRow = Object.freeze({
  method: '*',
  url: '(no route)',
  constraints: '',
  access: 'signed-in',
  opensSomePaths: true,
  why: 'undeclared',
  module: null,
  checkedByHandler: null,
  note: 'not found',
})

function byUrl(one: AccessRow, other: AccessRow): number {
  if (one.url !== other.url) return one.url < other.url ? -1 : 1
  return one.method < other.method ? -1 : Number(one.method > other.method)
}

function describe({
  record,
  method,
  ...parts
}: Pick<CensusParts, 'rules' | 'decider'> & {
  readonly record: RouteRecord
  readonly method: string
}): AccessRow {
  const { opened, rule } = openingOf(record, method, parts)
  return {
    method,
    url: record.url,
    constraints: record.constraintsText,
    access: opened === 'all' ? 'public' : protectedAs(record.requirement(method)?.text),
    opensSomePaths: opened === 'some',
    why: opened === 'all' && rule !== null ? whyPublic(rule, record) : whyProtected(record, method),
    module: record.origin?.module ?? null,
    checkedByHandler: record.documents ?? null,
    note: noteOn(record),
  }
}

interface Opened {
  readonly opened: 'all' | 'some' | 'none'
  /** A rule that opens it. */
  readonly rule: RegisteredRule | null
}

/** Where the literal text of a route does not settle which of its paths rules open, sample paths do. */
function openingOf(
  record: RouteRecord,
  method: string,
  { rules, decider }: Pick<CensusParts, 'rules' | 'decider'>,
): Opened {
  const { opens, rule, ownPath } = decider.verdictOf(record, method)
  if (opens === 'no path') return { opened: 'none', rule }
  if (opens === 'every path') return { opened: 'all', rule }
  if (record.path !== null) return { opened: ownPath.rule === null ? 'none' : 'all', rule: ownPath.rule }
  const paths = rules.rules
    .filter((each) => canMatch(each.route, record))
    .flatMap((each) => pathsOf(record, each.route))
  const found = [...new Set(paths)].map((path) => decider.findRule({ method, path, route: record }))
  const [first = null] = found.filter((each) => each !== null)
  if (first === null) return { opened: 'none', rule: null }
  return { opened: found.includes(null) ? 'some' : 'all', rule: first }
}

/** A public declaration opens no path that is not canonical. */
function protectedAs(text: string | undefined): string {
  return text === undefined || text === 'public' ? 'signed-in' : text
}

function whyProtected(record: RouteRecord, method: string): string {
  if (record.ownRequirement(method) !== undefined) return 'route config'
  return record.assigned(method)?.source ?? 'undeclared'
}

function whyPublic(rule: RegisteredRule, record: RouteRecord): string {
  return record.openedBy.includes(rule) ? rule.source : `rule "${String(rule.route)}" (${rule.source})`
}

function noteOn(record: RouteRecord): string {
  if (isPreflight(record)) return 'preflight'
  if (record.isWebsocket && record.derivedFrom === undefined) return 'websocket'
  return record.origin === null ? 'before the gate' : ''
}

const heading = ['METHOD', 'PATH', 'ACCESS', 'WHY', 'MODULE', 'NOTE']

function printCensus(rows: readonly AccessRow[]): string {
  return formatTable([
    heading,
    ...rows.map((row) => [
      row.method,
      row.constraints === '' ? row.url : `${row.url} (${row.constraints})`,
      row.opensSomePaths ? `${row.access}; rules open some paths` : row.access,
      row.why,
      row.module ?? '',
      [row.note, row.checkedByHandler === null ? '' : `${row.checkedByHandler}: checked by the handler`]
        .filter((text) => text !== '')
        .join('; '),
    ]),
  ])
}
