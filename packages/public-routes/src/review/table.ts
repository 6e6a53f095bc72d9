/** The table of access: every route and method of the application, who may call it, and what declares that. */
import type { Policies } from '../gate/policy.ts'
import type { Policy } from '../gate/decision.ts'
import type { Route } from '../gate/routes.ts'
import { frameworkDefault, nameOfRule, type RegisteredRule } from '../rule.ts'
import type { Parts } from './explain.ts'

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
  /** What declares it: `route config`, `rule "GET exact /" (framework default)`, `access of module "notes"`, `undeclared`. */
  readonly why: string
  /**
   * The rules that could open some paths of a route that is not public: `"* regex /items/7$" (application)`. It compares texts
   * and does not guess: a rule whose expression stands where the route has a parameter is among them.
   */
  readonly mayBeOpenedBy: readonly string[]
  /** `GET /notes` for the HEAD route that Fastify derived from it; null for routes that the application registered. */
  readonly derivedFrom: string | null
  /** The module that registered the route; null for routes of no module. */
  readonly module: string | null
  /** A permission that the handler checks by itself; null where the route names none. */
  readonly checkedByHandler: string | null
  /** `before the gate`, `websocket`, `preflight`, `not found`; empty otherwise. */
  readonly note: string
}

/** The rows of an application that is ready, sorted by URL. */
export function listAccess({ rules, routes, policies }: Omit<Parts, 'app'>): readonly AccessRow[] {
  const rows = routes.all.flatMap((route) => route.methods.map((method) => toRow(route, method, policies)))
  return [...rows.toSorted(byUrl), notFoundRow(rules)]
}

/** The not-found handler answers every path that no route has. */
function notFoundRow(rules: readonly RegisteredRule[]): AccessRow {
  return {
    method: '*',
    url: '(no route)',
    constraints: '',
    access: 'signed-in',
    why: 'undeclared',
    mayBeOpenedBy: rules.map(nameOfRule),
    derivedFrom: null,
    module: null,
    checkedByHandler: null,
    note: 'not found',
  }
}

function byUrl(one: AccessRow, other: AccessRow): number {
  if (one.url !== other.url) return one.url < other.url ? -1 : 1
  return one.method < other.method ? -1 : Number(one.method > other.method)
}

function toRow(route: Route, method: string, policies: Policies): AccessRow {
  const policy = policies.of(route, method)
  return {
    method,
    url: route.url,
    constraints: route.constraintsText,
    access: policy.kind === 'open' ? 'public' : (policy.otherwise.needs?.text ?? 'signed-in'),
    why: whyOf(policy, route, method),
    mayBeOpenedBy: policy.kind === 'by path' ? policy.rules.map(nameOfRule) : [],
    derivedFrom: route.derivedFrom === undefined ? null : `GET ${route.derivedFrom.url}`,
    module: route.origin?.module ?? null,
    checkedByHandler: route.checkedByHandler ?? null,
    note: noteOn(route),
  }
}

function whyOf(policy: Policy, route: Route, method: string): string {
  const opening = policy.kind === 'open' ? policy.open.publicBecause : null
  if (opening?.by === 'rule') return `rule ${nameOfRule(opening.rule)}`
  return route.declared(method)?.source ?? 'undeclared'
}

function noteOn(route: Route): string {
  if (route.isPreflight) return 'preflight'
  if (route.isWebsocket && route.derivedFrom === undefined) return 'websocket'
  return route.origin === null ? 'before the gate' : ''
}

const heading = ['METHOD', 'PATH', 'ACCESS', 'MODULE', 'NOTE', 'WHY']

/** A longer cell moves what follows it to the right, in its own line alone. */
const widestColumn = 32
const widestLine = 160
const indent = '        '

/** In columns, in lines of at most 160 characters. */
export function printTable(rows: readonly AccessRow[]): string {
  const table = [heading, ...rows.map(cellsOf)]
  const widths = heading.map((_, column) =>
    Math.min(widestColumn, Math.max(...table.map((cells) => cells[column]?.length ?? 0))),
  )
  return table
    .flatMap((cells) => wrap(cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')))
    .join('\n')
}

/** Breaks a line at a blank, or within a word that is longer than a line. */
function wrap(line: string): readonly string[] {
  const lines: string[] = []
  let rest = line.trimEnd()
  while (rest.length > widestLine) {
    const blank = rest.lastIndexOf(' ', widestLine)
    const at = blank > indent.length ? blank : widestLine
    lines.push(rest.slice(0, at).trimEnd())
    rest = indent + rest.slice(at).trimStart()
  }
  return [...lines, rest]
}

function cellsOf(row: AccessRow): readonly string[] {
  const notes = [
    row.note,
    row.checkedByHandler === null ? '' : `${row.checkedByHandler}: checked by the handler`,
  ]
  const opened = openedByText(row)
  return [
    row.method,
    row.constraints === '' ? row.url : `${row.url} (${row.constraints})`,
    row.access,
    row.module ?? '',
    notes.filter((text) => text !== '').join('; '),
    opened === '' ? row.why : `${row.why}; could be opened by ${opened}`,
  ]
}

/** `framework defaults, "* regex /items/7$" (application)`. Every rule may open paths that no route has: these are counted. */
function openedByText({ mayBeOpenedBy, note }: AccessRow): string {
  const own = mayBeOpenedBy.filter((name) => !name.endsWith(`(${frameworkDefault})`))
  const counted = note === 'not found' && own.length > 0 ? [`rules of the application: ${own.length}`] : own
  return [...(own.length < mayBeOpenedBy.length ? [`${frameworkDefault}s`] : []), ...counted].join(', ')
}
