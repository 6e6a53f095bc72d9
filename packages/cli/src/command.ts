/** The shape of a command, and what it is called with. */
import type { FastifyInstance } from 'fastify'
import type { Report } from './report.ts'

/** What the person typed, checked by the parser; and what came by standard input. */
export interface Invocation {
  readonly args: readonly string[]
  readonly options: Readonly<Record<string, string | boolean | undefined>>
  readonly stdin?: string | undefined
  /** Who runs it: the actor of its writes. */
  readonly actor: string
}

/** What the process of the application is sent. */
export interface Request {
  /** Of the command: `settings get`. */
  readonly name: string
  readonly invocation: Invocation
}

export interface CliCommand {
  readonly summary: string
  /** As the parser spells them: `<key>`, `[file]`. */
  readonly args?: string
  /** Flags with what they mean: `{ '--dry-run': '…', '--user <id>': '…' }`. */
  readonly options?: Readonly<Record<string, string>>
  /** Whether it removes or replaces something: in production it asks, or needs `--yes`. */
  readonly replaces?: boolean | ((invocation: Invocation) => boolean)
  /** Whether it makes and migrates tables. */
  readonly migrates?: (invocation: Invocation) => boolean
  /** Whether it runs with tables that are missing, or settings that no other process sees. */
  readonly runsAnyway?: boolean
  readonly run: (app: FastifyInstance, invocation: Invocation) => Promise<Report>
}

/** A mistake in what was typed that the parser cannot see: exit code 2. */
export class UsageError extends Error {}

/** The value of an option that takes one; undefined where it is absent. */
export function textOption({ options }: Invocation, name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

/** The options of a write that name its author and its reason. */
export function authorOf(invocation: Invocation): { readonly actor: string; readonly note: string | null } {
  return { actor: invocation.actor, note: textOption(invocation, 'note') ?? null }
}
