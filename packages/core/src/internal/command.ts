/**
 * Whether this process opens the application for a command of the command line instead of serving it. Such a process changes
 * nothing by itself: it does not migrate, subscribe, deliver, trim or listen, and it collects what is wrong with stored things.
 */
import type { FastifyInstance } from 'fastify'
import { safeRead } from './safe.ts'

/** What `doctor` looks for. */
type FindingKind =
  | 'access file out of date'
  | 'broken rule'
  | 'cannot be served'
  | 'dead letters'
  | 'event without a subscription'
  | 'memory store'
  | 'missing migration'
  | 'orphan'
  | 'overdue window'
  | 'plain secret'
  | 'row of another scope'
  | 'unknown override'
  | 'unreadable secret'

/** Something that is wrong with a deployment. */
export interface Finding {
  readonly kind: FindingKind
  /** A sentence for the operator. */
  readonly text: string
  /** The settings that it concerns: writes of these are refused. All settings without it. */
  readonly keys?: readonly string[]
}

/** The command under which a process opens the application. */
export interface Command {
  /** `settings get` */
  readonly name: string
  /** Whether tables are made and migrated: by the command `migrate` alone. */
  readonly migrates: boolean
  /** What the boot has found. */
  readonly findings: Finding[]
}

/** The global under which the command line leaves its command before it imports the application. */
const switchName: unique symbol = Symbol.for('fastify-modular.command')

/** The command of this process; undefined where the application is served or tested. */
export function currentCommand(): Command | undefined {
  const command: unknown = Reflect.get(globalThis, switchName)
  return isCommand(command) ? command : undefined
}

function isCommand(value: unknown): value is Command {
  return typeof safeRead(value, 'name') === 'string' && Array.isArray(safeRead(value, 'findings'))
}

/** Adds `app.isCommand`. */
export function decorateCommand(app: FastifyInstance): void {
  if (!app.hasDecorator('isCommand')) app.decorate('isCommand', currentCommand() !== undefined)
}

/** A check of stored things, and what its failure means. */
export interface StoredCheck {
  readonly kind: FindingKind
  /** The codes of the errors that say so. Other errors pass. */
  readonly codes: readonly string[]
  readonly keys?: readonly string[]
}

/** Runs a check. Under a command its failure is a finding, and undefined is returned; elsewhere it stops the boot. */
export function orFinding<T>(check: StoredCheck, run: () => Promise<T>): Promise<T | undefined>
export function orFinding<T>(check: StoredCheck, run: () => T): T | undefined
export function orFinding<T>(
  check: StoredCheck,
  run: () => T | Promise<T>,
): T | undefined | Promise<T | undefined> {
  try {
    const result = run()
    return result instanceof Promise ? result.catch((error: unknown) => addFinding(check, error)) : result
  } catch (error) {
    return addFinding(check, error)
  }
}

/** @throws {unknown} the error, where no command runs or the check does not know it */
function addFinding({ kind, codes, keys }: StoredCheck, error: unknown): undefined {
  const command = currentCommand()
  if (!command || !codes.includes(String(safeRead(error, 'code')))) throw error
  const lines = (error instanceof Error ? error.message : String(error)).split(/\n\s*/)
  const text = lines.filter((line) => !line.startsWith('https:')).join(' ') // the address of its code is for developers
  report({ kind, text, ...(keys && { keys }) })
}

/** Notes a finding once, where a command runs. */
export function report(finding: Finding): void {
  const findings = currentCommand()?.findings
  if (findings?.every(({ kind, text }) => kind !== finding.kind || text !== finding.text))
    findings.push(finding)
}
