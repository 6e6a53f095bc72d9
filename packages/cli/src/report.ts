/** What a command answers, and how it is printed: a table for people, JSON for programs. */

/** Exit codes of the command. */
export const exitCodes = { done: 0, failed: 1, usage: 2, differences: 3, conflict: 4 } as const
type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Crosses the border between the two processes: plain data. */
export interface Report {
  /** Printed by `--json`. @default the rows, or else the lines */
  readonly data?: unknown
  /** A table of JSON values. */
  readonly rows?: readonly object[]
  /** The members of the rows that the table shows. @default those of the first row */
  readonly columns?: readonly string[]
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
export function printReport(report: Report, asJson: boolean): string {
  const { rows = [], lines = [], data = report.rows ?? lines } = report
  if (asJson) return `${JSON.stringify(data, null, 2)}\n`
  const table = rows.length === 0 ? [] : printTable(rows, report.columns ?? Object.keys(rows[0] ?? {}))
  return [...table, ...lines].map((line) => `${line}\n`).join('')
}

/** Columns are as wide as their widest cell, but for the last one. */
function printTable(rows: readonly object[], columns: readonly string[]): readonly string[] {
  const heads = columns.map((name) => name.replace(/[A-Z]/g, ' $&').toUpperCase())
  const cells = [heads, ...rows.map((row) => columns.map((name) => textOf(Reflect.get(row, name))))]
  const widths = heads.map((_, at) => Math.max(...cells.map((line) => line[at]?.length ?? 0)))
  return cells.map((line) => {
    const padded = line.map((cell, at) => cell.padEnd(widths[at] ?? 0))
    return padded.join('  ').trimEnd()
  })
}

function textOf(cell: unknown): string {
  if (cell === null || cell === undefined) return '-'
  const text = typeof cell === 'string' ? cell : JSON.stringify(cell)
  return text.replaceAll(/\p{Cc}/gu, ' ') // a value must not move the cursor of a terminal
}
