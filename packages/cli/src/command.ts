/** The shape of a command, and what it is called with. */
import type { Option } from 'commander'
import type { FastifyInstance } from 'fastify'
import type { Report } from './report.ts'

type Text = 'actor' | 'config' | 'limit' | 'note' | 'tenant' | 'user'
type Flag =
  | 'changed'
  | 'check'
  | 'dryRun'
  | 'jsonValue'
  | 'overwrite'
  | 'plan'
  | 'replace'
  | 'stdin'
  | 'update'
  | 'yes'

/** The options of all commands, by the names that the parser gives them. */
export type Options = { readonly [K in Text]?: string } & { readonly [K in Flag]?: boolean }

/** What the person typed, checked by the parser; and what came by standard input. */
export interface Invocation {
  readonly args: readonly string[]
  readonly options: Options
  readonly stdin: string | undefined
  /** Who runs it and why, for the history. */
  readonly author: { readonly actor: string; readonly note: string | null }
}

export interface CliCommand {
  readonly summary: string
  /** As the parser spells them: `<key>`, `[file]`. */
  readonly args?: string
  readonly options?: readonly Option[]
  /** Whether it removes or replaces something: in production it asks, or needs `--yes`. */
  readonly replaces?: (options: Options) => boolean
  /** Whether it makes and migrates tables. */
  readonly migrates?: (options: Options) => boolean
  /** Whether it runs with tables that are missing, or settings that no other process sees. */
  readonly runsAnyway?: boolean
  readonly run: (app: FastifyInstance, invocation: Invocation) => Promise<Report>
}

/** A command with what it is called with. */
export interface Call extends Invocation {
  readonly name: string
  readonly command: CliCommand
}

/** A mistake in what was typed that the parser cannot see: exit code 2. */
export class UsageError extends Error {}
