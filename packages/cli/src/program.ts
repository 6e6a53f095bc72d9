/** The command line: parses it, and asks before something is removed. */
import { once } from 'node:events'
import { userInfo } from 'node:os'
import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import { Command, CommanderError } from 'commander'
import type { Call, CliCommand, Options } from './command.ts'
import { deploymentCommands } from './commands/deployment.ts'
import { eventsCommands } from './commands/events.ts'
import { settingsCommands } from './commands/settings.ts'
import { exitCodes, failure, type Report } from './report.ts'

/** All commands by name. */
export const commands: Readonly<Record<string, CliCommand>> = {
  ...deploymentCommands,
  ...settingsCommands,
  ...eventsCommands,
}

/** The command that the arguments name, or a report: what the parser has to say, or that the question was not answered by yes. */
export async function readCall(argv: readonly string[]): Promise<Call | Report> {
  let call: Call | undefined
  let printed = ''
  const print = (part: string) => (printed += part)
  const program = new Command('fastify-modular')
    .description('Operates the application of this folder without serving it.')
    .option('--json', 'prints JSON')
    .option('--actor <name>', 'who does it, for the history')
    .option('--config <file>', 'in place of fastify-modular.config.js')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: print, writeErr: print })
  addCommands(program, (found) => (call = found))
  try {
    await program.parseAsync([...argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    const lines = printed.trimEnd().split('\n')
    return error.exitCode === 0 ? { lines } : failure(lines, exitCodes.usage)
  }
  if (!call) return failure([program.helpInformation()], exitCodes.usage)
  if (await isConfirmed(call)) return call
  return failure(['Nothing was done. Pass --yes to do it without a question.'])
}

function addCommands(program: Command, choose: (call: Call) => void): void {
  const groups: Readonly<Record<string, Command>> = {
    settings: program.command('settings'),
    'events dead-letters': program.command('events').command('dead-letters'),
  }
  for (const [name, command] of Object.entries(commands)) {
    const at = name.lastIndexOf(' ')
    const group = groups[name.slice(0, Math.max(at, 0))] ?? program
    const parsed = group.command(`${name.slice(at + 1)} ${command.args ?? ''}`.trim())
    parsed.description(command.summary)
    for (const option of command.options ?? []) parsed.addOption(option)
    if (command.replaces) parsed.option('--yes', 'does not ask, in production')
    parsed.action(async () => {
      const options = parsed.optsWithGlobals<Options>()
      const author = { actor: actorOf(options), note: options.note ?? null }
      const stdin = options.stdin ? (await text(process.stdin)).replace(/\r?\n$/, '') : undefined
      choose({ name, command, args: parsed.args, options, author, stdin })
    })
  }
}

/** A container may run under a number that has no name. */
function actorOf({ actor }: Options): string {
  if (actor !== undefined) return `cli:${actor}`
  try {
    return `cli:${userInfo().username}`
  } catch {
    return `cli:${process.getuid?.() ?? 'unknown'}`
  }
}

/** In production, what removes or replaces something is asked about. */
async function isConfirmed({ command, options }: Call): Promise<boolean> {
  if (process.env['NODE_ENV'] !== 'production' || options.yes || !command.replaces?.(options)) return true
  if (!process.stdin.isTTY) return false
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const question = terminal.question('This removes or replaces what is stored. Continue? (yes/no) ')
  const ended = once(terminal, 'close') // Ctrl-D and Ctrl-C; some versions of Node reject the question as well
  const [answer] = await Promise.race([question.then((typed) => [typed]), ended]).catch(() => [])
  terminal.close()
  return String(answer).trim() === 'yes'
}
