/** The anonymous surface of an application as a table to read and to review. */
import { formatMethods } from '../public-route.ts'
import { frameworkDefault } from '../framework-defaults.ts'
import type { SurfaceEntry } from './surface.ts'
import { opensMutations } from './warnings.ts'

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
  const widths = heading.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  return [heading, ...rows].map((row) => formatRow(row, widths)).join('\n')
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
