/** Opens applications under commands, in the process of a test. */
import type { FastifyInstance } from 'fastify'
import type { Call, Invocation } from '#src/command.js'
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
  return open(make, { name, command, args, options, stdin, author })
}

/** Opens the application under a command that is parsed already. */
export async function open(make: () => Promise<FastifyInstance>, call: Call): Promise<Report> {
  const { name, command, options } = call
  const migrates = command.migrates?.(options) === true
  Reflect.set(globalThis, switchName, { name, migrates, findings: [] })
  let app: FastifyInstance | undefined
  try {
    return await runCommand(call, async () => {
      app = await make()
      await app.ready()
      return app
    })
  } finally {
    await app?.close()
    Reflect.deleteProperty(globalThis, switchName)
  }
}
/** The kinds of what `doctor` has found. */
export function kindsOf({ rows = [] }: Report): readonly unknown[] {
  return rows.map((row) => Reflect.get(row, 'kind'))
}
