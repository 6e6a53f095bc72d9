/** Opens applications under commands, in the process of a test. */
import type { FastifyInstance } from 'fastify'
import type { CliCommand, Invocation } from '#src/command.js'
import { commands } from '#src/program.js'
import type { Report } from '#src/report.js'
import { runCommand } from '#src/run-command.js'

const switchName = Symbol.for('fastify-modular.command')

/** Runs a command as its process would. `line` has the name, then arguments; an option is a member of `options`. */
export async function under(
  make: () => Promise<FastifyInstance>,
  name: string,
  args: readonly string[] = [],
  given: Partial<Pick<Invocation, 'options' | 'stdin'>> = {},
): Promise<Report> {
  const command = commands[name]
  if (command === undefined) throw new Error(`There is no command ${name}`)
  const { options = {}, stdin } = given
  const author = { actor: 'cli:ada', note: options.note ?? null }
  return open(make, name, command, { args, options, stdin, author })
}

/** Opens the application under a command that is parsed already. */
export async function open(
  make: () => Promise<FastifyInstance>,
  name: string,
  command: CliCommand,
  invocation: Invocation,
): Promise<Report> {
  Reflect.set(globalThis, switchName, {
    name,
    migrates: command.migrates?.(invocation.options) === true,
    findings: [],
  })
  try {
    const app = await make()
    await app.ready()
    try {
      return await runCommand(app, command, invocation)
    } finally {
      await app.close()
    }
  } finally {
    Reflect.deleteProperty(globalThis, switchName)
  }
}

/** The kinds of what `doctor` has found. */
export function kindsOf({ rows = [] }: Report): readonly unknown[] {
  return rows.map((row) => Reflect.get(row, 'kind'))
}
