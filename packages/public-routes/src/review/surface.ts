/** What anonymous callers can reach: each rule with the routes and methods that it can open. */
import { canMatch, type Decider, opensMethod } from '../gate/decide.ts'
import type { RouteRecord } from '../gate/route-record.ts'
import { frameworkDefault } from '../initial-rules.ts'
import type { PatternPart, RoutePattern } from '../matching/route-pattern.ts'
import { sampleTexts } from '../matching/sample-text.ts'
import { formatMethods, type PublicRoute } from '../rule.ts'
import { LiteralTrie, type RegisteredRule } from '../rules.ts'

/** A route that a rule can open. */
export interface Opening {
  readonly record: RouteRecord
  readonly method: string
  /** A path for which it does. */
  readonly path: string
}

/** A rule with what it opens. Exact for static routes; for others it rests on sample values of the parameters. */
export interface SurfaceEntry {
  readonly rule: RegisteredRule
  readonly openings: readonly Opening[]
}

interface SurfaceParts {
  readonly rules: readonly RegisteredRule[]
  readonly records: readonly RouteRecord[]
  readonly decider: Decider
}

export function describeSurface(parts: SurfaceParts): readonly SurfaceEntry[] {
  return Array.from(findMeetings(parts), ([rule, records]) => ({
    rule,
    openings: records.flatMap((record) => openingsOf(rule, record)),
  }))
}

/** A rule that matches a route whose own declaration keeps it from opening it. */
export interface Overruled {
  readonly rule: RegisteredRule
  readonly record: RouteRecord
  readonly method: string
}

/** Framework defaults are left out: the application did not write them. */
export function findOverruled({ rules, records, decider }: SurfaceParts): readonly Overruled[] {
  const closed = records.filter(
    (record) => !record.isDerivedHead && record.methods.some((method) => record.isClosed(method)),
  )
  const own = rules.filter(({ source }) => source !== frameworkDefault)
  const overruled = Array.from(findMeetings({ rules: own, records: closed, decider }), ([rule, met]) =>
    met
      .filter((record) => openPath(rule, record) !== undefined)
      .flatMap((record) =>
        record.methods
          .filter((method) => record.isClosed(method) && rule.route.allows(method))
          .map((method) => ({ rule, record, method })),
      ),
  )
  return overruled.flat()
}

/** For each rule the routes that it may open, by their literal texts alone. */
function findMeetings({
  rules,
  records,
  decider,
}: SurfaceParts): ReadonlyMap<RegisteredRule, readonly RouteRecord[]> {
  const candidates = findCandidates(rules, records)
  const places = new Map(records.map((record, place) => [record, place]))
  const placeOf = (record: RouteRecord) => places.get(record) ?? 0
  return new Map(
    rules.map((rule) => [
      rule,
      Array.from(candidates.get(rule) ?? records)
        .filter((record) => canMatch(rule.route, record) && decider.canOpen(rule, record))
        .toSorted((one, other) => placeOf(one) - placeOf(other)),
    ]),
  )
}

/**
 * The routes whose paths begin like the literal text of a rule, so that not every rule is compared with every route: a
 * hundred modules have 100,000 such pairs (bench/boot.mjs). None for suffix rules, which any route may meet.
 */
function findCandidates(
  rules: readonly RegisteredRule[],
  records: readonly RouteRecord[],
): ReadonlyMap<RegisteredRule, ReadonlySet<RouteRecord>> {
  const candidates = new Map<RegisteredRule, Set<RouteRecord>>()
  const byLiteral = new LiteralTrie<Set<RouteRecord>>('forward')
  const byHead = new LiteralTrie<RouteRecord>('forward')
  for (const rule of rules.filter(({ route }) => route.kind !== 'suffix')) {
    const found = new Set<RouteRecord>()
    candidates.set(rule, found)
    byLiteral.add(rule.route.literal, found)
  }
  for (const record of records) {
    for (const head of record.heads) {
      byHead.add(head, record)
      for (const found of byLiteral.all(head)) found.add(record)
    }
  }
  for (const [{ route }, found] of candidates)
    for (const record of byHead.all(route.literal)) found.add(record)
  return candidates
}

function openingsOf(rule: RegisteredRule, record: RouteRecord): readonly Opening[] {
  const methods = record.methods.filter((method) => opensMethod(rule, method, record))
  if (methods.length === 0) return []
  const path = openPath(rule, record)
  return path === undefined ? [] : methods.map((method) => ({ record, method, path }))
}

function openPath({ route: rule }: RegisteredRule, record: RouteRecord): string | undefined {
  if (rule.kind === 'route') return record.url
  return pathsOf(record, rule).find((path) => rule.matchesPath(path))
}

/** Sample paths of the route, also those that the rule suggests. */
export function pathsOf(
  { path, patterns }: RouteRecord,
  { kind, pattern: text }: PublicRoute,
): readonly string[] {
  if (path !== null) return [path]
  const hints = kind === 'regex' ? [text, ...sampleTexts(text)] : [text]
  return patterns.flatMap((pattern) => hints.flatMap((hint) => samplePaths(pattern, hint)))
}

const mutating = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** Whether a rule for every method opens a route that changes something. */
export function opensMutations({ rule, openings }: SurfaceEntry): boolean {
  return rule.route.methods === null && openings.some(({ method }) => mutating.has(method))
}

const heading = ['METHOD', 'MATCH', 'PATH', 'SOURCE', 'OPENS']

/** One line for each rule, with the routes that it opens. */
export function printSurface(surface: readonly SurfaceEntry[]): string {
  const rows = surface.map(({ rule, openings }) => [
    formatMethods(rule.route.methods),
    rule.route.kind,
    rule.route.pattern,
    rule.source,
    describe({ rule, openings }),
  ])
  return formatTable([heading, ...rows])
}

/** Rows of cells as lines of text, in columns; the first row is the heading. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0),
  )
  return rows.map((row) => formatRow(row, widths)).join('\n')
}

/** One line for each method and route that anonymous callers can reach, with the rule that opens it; sorted. */
export function surfaceLines(surface: readonly SurfaceEntry[]): readonly string[] {
  const lines = surface.flatMap(({ rule, openings }) =>
    openings.map(
      ({ method, record }) =>
        `${method} ${record.url} — ${rule.route.kind} ${rule.route.pattern} (${rule.source})`,
    ),
  )
  return [...new Set(lines)].toSorted()
}

/** An exclamation mark where a reviewer should look: nothing is opened, or more than reading. */
function describe({ rule, openings }: SurfaceEntry): string {
  if (openings.length === 0) return rule.source === frameworkDefault ? 'no route' : '! no route'
  return (opensMutations({ rule, openings }) ? '! ' : '') + listOpenings(openings)
}

function listOpenings(openings: SurfaceEntry['openings']): string {
  const urls = new Map<string, string[]>()
  for (const { method, record } of openings) {
    const methods = urls.get(record.url)
    if (methods === undefined) urls.set(record.url, [method])
    else methods.push(method)
  }
  return [...urls].map(([url, methods]) => `${methods.join(',')} ${url}`).join('; ')
}

function formatRow(row: readonly string[], widths: readonly number[]): string {
  return row
    .map((cell, column) => cell.padEnd(widths[column] ?? 0))
    .join('  ')
    .trimEnd()
}

/** What parameters commonly hold. */
const commonValues = ['42', 'sample', '3f2504e0-4f89-41d3-9a0c-0305e82c3301', 'a.b', '2024', 'a']

/** Sample paths of a route pattern; `hint` is the text of a rule, whose segments are tried as values as well. */
export function samplePaths(pattern: RoutePattern, hint: string): readonly string[] {
  const paths = commonValues.map((value) => fill(pattern, () => value))
  if (pattern.every((part) => typeof part === 'string')) return paths.slice(0, 1)
  return [...new Set([...paths, fill(pattern, valuesFrom(hint)), fillFromEnd(pattern, hint)])]
}

/** The value of a parameter or wildcard, given the path before it. */
type ValueOf = (part: PatternPart, before: string) => string

function fill(pattern: RoutePattern, valueOf: ValueOf): string {
  let path = ''
  for (const part of pattern) path += typeof part === 'string' ? part : fitting(part, valueOf(part, path))
  return path
}

/** The value, or one that the expression of the parameter accepts. */
function fitting(part: PatternPart, value: string): string {
  if (typeof part === 'string' || part.expression === undefined) return value
  return new RegExp(part.expression).test(value) ? value : (sampleTexts(part.expression)[0] ?? value)
}

/** The text of the hint at the place of the value, where the hint begins like the path before it. */
function valuesFrom(hint: string): ValueOf {
  return (part, before) => {
    if (!hint.startsWith(before)) return 'sample'
    const rest = hint.slice(before.length)
    return (isWildcard(part) ? rest : rest.split('/', 1)[0]) || 'sample'
  }
}

/** The last value is chosen so that the path ends with the hint, where the literal text behind it allows that. */
function fillFromEnd(pattern: RoutePattern, hint: string): string {
  const last = pattern.findLastIndex((part) => typeof part !== 'string')
  const behind = fill(pattern.slice(last + 1), () => '')
  const value = hint.endsWith(behind) ? hint.slice(0, hint.length - behind.length) : 'sample'
  const text = isWildcard(pattern[last]) ? value : (value.split('/').at(-1) ?? '')
  const before = fill(pattern.slice(0, last), () => 'sample')
  return before + fitting(pattern[last] ?? '', text || 'sample') + behind
}

function isWildcard(part: PatternPart | undefined): boolean {
  return typeof part === 'object' && part.param === '*'
}
