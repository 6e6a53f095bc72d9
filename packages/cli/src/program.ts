/** The command line: parses it, asks before something is removed, and has a process open the application. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { userInfo } from 'node:os'
import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import { Command, CommanderError } from 'commander'
import type { Invocation, Request } from './command.ts'
import { commands } from './commands/table.ts'
import { type ExitCode, exitCodes, failure, printReport, type Report, reportMember } from './report.ts'

/** Runs the command line. Returns the exit code. `start` starts the process that opens the application. */
export async function runProgram(argv: readonly string[], start: () => ChildProcess): Promise<ExitCode> {
  const report = await run(argv, start)
  const { exit = exitCodes.done } = report
  const asJson = argv.includes('--json')
  const isAnswer = asJson || exit === exitCodes.done || exit === exitCodes.differences
  const output = isAnswer ? process.stdout : process.stderr
  output.on('error', () => {}) // the reader has closed the pipe, as head does
  output.write(printReport(report, asJson))
  return exit
}

async function run(argv: readonly string[], start: () => ChildProcess): Promise<Report> {
  let request: Request | undefined
  let printed = ''
  const program = createProgram(
    (chosen) => (request = chosen),
    (text) => (printed += text),
  )
  try {
    await program.parseAsync([...argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    const lines = printed.trimEnd().split('\n')
    return error.exitCode === 0 ? { lines } : failure(lines, exitCodes.usage)
  }
  if (request === undefined) return failure([program.helpInformation()], exitCodes.usage)
  const { invocation } = request
  if (!(await isConfirmed(request)))
    return failure(['Nothing was done. Pass --yes to do it without a question.'])
  const stdin = invocation.options['stdin'] === true ? await readStdin() : undefined
  return reportOf(start(), { ...request, invocation: { ...invocation, stdin } })
}

/** What the parser prints, for mistakes and for help, goes to `print`. */
function createProgram(choose: (request: Request) => void, print: (text: string) => void): Command {
  const program = new Command('fastify-modular')
  program.description('Operates the application of this folder without serving it.')
  program.exitOverride().configureOutput({ writeOut: print, writeErr: print })
  const groups = new Map<string, Command>([['', program]])
  for (const [name, command] of Object.entries(commands)) {
    const words = name.split(' ')
    const last = words.pop() ?? ''
    const parsed = groupOf(groups, words).command(`${last} ${command.args ?? ''}`.trim())
    parsed.description(command.summary)
    for (const [flags, text] of Object.entries(command.options ?? {})) parsed.option(flags, text)
    if (command.replaces) parsed.option('--yes', 'does not ask, in production')
    parsed.option('--json', 'prints JSON')
    parsed.option('--actor <name>', 'who does it, for the history')
    parsed.option('--config <file>', 'in place of fastify-modular.config.js')
    parsed.action(() => {
      const options = parsed.opts<Invocation['options']>()
      choose({ name, invocation: { args: parsed.args, options, actor: actorOf(options['actor']) } })
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
async function isConfirmed({ name, invocation }: Request): Promise<boolean> {
  const { replaces = false } = commands[name] ?? {}
  const asks = typeof replaces === 'function' ? replaces(invocation) : replaces
  if (!asks || process.env['NODE_ENV'] !== 'production' || invocation.options['yes'] === true) return true
  if (!process.stdin.isTTY) return false
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const question = terminal.question('This removes or replaces what is stored. Continue? (yes/no) ')
  const ended = once(terminal, 'close') // Ctrl-D and Ctrl-C; some versions of Node reject the question as well
  const [answer] = await Promise.race([question.then((typed) => [typed]), ended]).catch(() => [])
  terminal.close()
  return String(answer).trim() === 'yes'
}

async function readStdin(): Promise<string> {
  return (await text(process.stdin)).replace(/\r?\n$/, '')
}

/** Has the process run the command, and waits for its end. */
async function reportOf(child: ChildProcess, request: Request): Promise<Report> {
  let report: Report | undefined
  // The application may send messages of its own, as to a process manager.
  child.on('message', (message) => (report ??= Object(message)[reportMember]))
  child.send(request)
  const [code, signal] = await once(child, 'exit')
  return (
    report ?? failure([`The application ended before the command did (${signal ?? `exit code ${code}`}).`])
  )
}
