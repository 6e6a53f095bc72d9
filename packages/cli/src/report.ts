/** What a command answers, and how it is printed: a table for people, JSON for programs. */

/** Exit codes of the command. */
export const exitCodes = { done: 0, failed: 1, usage: 2, differences: 3, conflict: 4 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Crosses the border between the two processes: plain data. */
export interface Report {
  /** Printed by `--json`. @default the rows, or else the lines */
  readonly data?: unknown
  /** A table of JSON values; its columns are the members of the first row. */
  readonly rows?: readonly Readonly<Record<string, unknown>>[]
  /** Sentences below the table. */
  readonly lines?: readonly string[]
  /** @default exitCodes.done */
  readonly exit?: ExitCode
}

/** The member of the message that has the report. */
export const reportMember = 'fastify-modular.report'

/** The report of a command that did not do what it should. `details` are printed by `--json`. */
export function failure(
  lines: readonly string[],
  exit: ExitCode = exitCodes.failed,
  details: Readonly<Record<string, unknown>> = {},
): Report {
  return { data: { error: lines.join('\n'), ...details }, lines, exit }
}

/** The report as text that ends with a line break. */
export function printReport({ data, rows, lines = [] }: Report, asJson: boolean): string {
  if (asJson) return `${JSON.stringify(data ?? rows ?? lines, null, 2)}\n`
  const table = rows === undefined ? [] : printTable(rows)
  return [...table, ...lines].map((line) => `${line}\n`).join('')
}

/** Columns are as wide as their widest cell, but for the last one. */
function printTable(rows: NonNullable<Report['rows']>): readonly string[] {
  const names = Object.keys(rows[0] ?? {})
  const cells = [
    names.map((name) => name.toUpperCase()),
    ...rows.map((row) => names.map((name) => textOf(row[name]))),
  ]
  const widths = names.map((_, at) => Math.max(...cells.map((line) => line[at]?.length ?? 0)))
  if (names.length === 0) return []
  return cells.map((line) =>
    line
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

function textOf(cell: unknown): string {
  if (cell === null || cell === undefined) return '-'
  const text = typeof cell === 'string' ? cell : JSON.stringify(cell)
  return text.replaceAll(/\p{Cc}/gu, ' ') // a value must not move the cursor of a terminal
}
