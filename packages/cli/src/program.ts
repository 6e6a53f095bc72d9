/** The command line: parses it, asks before something is removed, and has the application opened in a process of its own. */
import { fork } from 'node:child_process'
import { userInfo } from 'node:os'
import { createInterface } from 'node:readline/promises'
import { fileURLToPath } from 'node:url'
import { Command, CommanderError } from 'commander'
import type { Request } from './application.ts'
import type { CliCommand, Invocation } from './command.ts'
import { commands } from './commands/table.ts'
import { type ExitCode, exitCodes, printReport, type Report } from './report.ts'

/** Runs the command line. Returns the exit code. */
export async function runProgram(argv: readonly string[]): Promise<ExitCode> {
  let chosen: (Request & { readonly command: CliCommand }) | undefined
  const program = createProgram((name, command, invocation) => {
    chosen = { name, command, invocation }
  })
  try {
    await program.parseAsync([...argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
  }
  if (chosen === undefined) return exitCodes.usage
  const { command, name, invocation } = chosen
  if (!(await isConfirmed(command, invocation))) {
    console.error('Nothing was done. Pass --yes to do it without a question.')
    return exitCodes.failed
  }
  const stdin = invocation.options['stdin'] === true ? await readStdin() : undefined
  const config = typeof invocation.options['config'] === 'string' ? invocation.options['config'] : undefined
  const report = await open({ name, invocation: { ...invocation, stdin }, config })
  const { exit = exitCodes.done } = report
  const isFailure = exit === exitCodes.failed || exit === exitCodes.usage || exit === exitCodes.conflict
  const output = isFailure && invocation.options['json'] !== true ? process.stderr : process.stdout
  output.write(printReport(report, invocation.options['json'] === true))
  return exit
}

type Choose = (name: string, command: CliCommand, invocation: Invocation) => void

function createProgram(choose: Choose): Command {
  const program = new Command('fastify-modular')
  program.description('Operates the application of this folder without serving it.').exitOverride()
  const groups = new Map<string, Command>([['', program]])
  for (const [name, command] of Object.entries(commands)) {
    const words = name.split(' ')
    const last = words.pop() ?? ''
    const parsed = groupOf(groups, words).command(`${last} ${command.args ?? ''}`.trim())
    parsed.description(command.summary).exitOverride()
    for (const [flags, text] of Object.entries(command.options ?? {})) parsed.option(flags, text)
    if (command.replaces) parsed.option('--yes', 'does not ask, in production')
    parsed.option('--json', 'prints JSON')
    parsed.option('--actor <name>', 'who does it, for the history')
    parsed.option('--config <file>', 'in place of fastify-modular.config.js')
    parsed.action(() => {
      const options = parsed.opts<Invocation['options']>()
      choose(name, command, { args: parsed.args, options, actor: actorOf(options['actor']) })
    })
  }
  return program
}

/** The command under which others stand: `settings`, `events dead-letters`. */
function groupOf(groups: Map<string, Command>, words: readonly string[]): Command {
  const name = words.join(' ')
  const known = groups.get(name)
  if (known) return known
  const made = groupOf(groups, words.slice(0, -1)).command(words.at(-1) ?? '')
  made.exitOverride()
  groups.set(name, made)
  return made
}

/** A container may run under a number that has no name. */
function actorOf(named: unknown): string {
  if (typeof named === 'string') return `cli:${named}`
  try {
    return `cli:${userInfo().username}`
  } catch {
    return `cli:${process.getuid?.() ?? 'unknown'}`
  }
}

/** In production, what removes or replaces something is asked about. */
async function isConfirmed({ replaces = false }: CliCommand, invocation: Invocation): Promise<boolean> {
  const asks = typeof replaces === 'function' ? replaces(invocation) : replaces
  if (!asks || process.env['NODE_ENV'] !== 'production' || invocation.options['yes'] === true) return true
  if (!process.stdin.isTTY) return false
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question('This removes or replaces what is stored. Continue? (yes/no) ')
  terminal.close()
  return answer.trim() === 'yes'
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}

/** Opens the application in a process of its own, whose output goes to standard error. */
function open(request: Request): Promise<Report> {
  const child = fork(fileURLToPath(new URL('application.js', import.meta.url)), {
    stdio: ['ignore', 2, 2, 'ipc'],
    serialization: 'json',
  })
  return new Promise((resolve, reject) => {
    let report: Report | undefined
    child.once('error', reject)
    child.once('message', (message) => (report = message as Report)) // of the same package
    child.once('exit', (code, signal) =>
      resolve(
        report ?? {
          lines: [`The application ended before the command did (${signal ?? `exit code ${code}`}).`],
          exit: exitCodes.failed,
        },
      ),
    )
    child.send(request)
  })
}
