/** The command: reads its arguments, asks for what is missing, writes the application and installs it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { relative } from 'node:path'
import { createInterface, type Interface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import { parseArgs } from 'node:util'
import {
  checkTarget,
  createApplication,
  type Database,
  databases,
  databaseUrl,
  Refusal,
  version,
} from './create.ts'

const usage = `npm create fastify-modular [folder] -- [options]

Creates a modular Fastify application in a folder that is empty or does not exist.

  --database sqlite|postgres   where settings are kept (sqlite)
  --no-install                 writes the files only
  -y, --yes                    asks nothing: my-app, on SQLite
  -h, --help                   prints this
  -v, --version                prints the version
`

/** What the command needs of its process. It asks only where `input` and `output` are a terminal. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly input: Readable & { readonly isTTY?: boolean }
  readonly output: Writable & { readonly isTTY?: boolean }
  readonly errors: Writable
}

/** Returns the exit code: 1 when nothing was created, or when the dependencies could not be installed. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await create(args, terminal)
  } catch (error) {
    const message = messageOf(error)
    if (message === undefined) throw error
    terminal.errors.write(`${message}\n`)
    return 1
  }
}

async function create(args: readonly string[], terminal: Terminal): Promise<number> {
  const { help, version: wantsVersion, install, yes, ...given } = readArguments(args)
  if (help || wantsVersion) {
    terminal.output.write(help ? usage : `${version()}\n`)
    return 0
  }
  if (given.folder !== undefined) checkTarget(given.folder) // before it asks for anything else
  const { folder, database } = yes ? withDefaults(given) : await askForMissing(given, terminal)
  const { name, path } = createApplication({ folder, database })
  terminal.output.write(`Created ${name}.\n`)

  const manager = packageManager(terminal.env)
  const isInstalled = install && (await installDependencies(manager, path))
  if (install && !isInstalled) {
    terminal.errors.write(`The files are written, but "${manager} install" failed: repeat it there.\n`)
  }
  const steps = [
    ...(path === process.cwd() ? [] : [`cd ${shellWord(relative(process.cwd(), path))}`]),
    ...(isInstalled ? [] : [`${manager} install`]),
    ...(database === 'postgres' ? [`# set DATABASE_URL in .env, for example to ${databaseUrl(name)}`] : []),
    'npm run dev',
    'npm test',
  ]
  terminal.output.write(`\nNext:\n${steps.map((step) => `  ${step}\n`).join('')}`)
  return install && !isInstalled ? 1 : 0
}

/** A path as a shell takes it for one word, and `cd` for no option. */
function shellWord(path: string): string {
  const word = path.startsWith('-') ? `./${path}` : path
  if (/^[\w./\\:-]+$/.test(word)) return word
  return process.platform === 'win32' ? `"${word}"` : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

interface Answers {
  readonly folder: string
  readonly database: Database
}

function readArguments(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      database: { type: 'string' },
      'no-install': { type: 'boolean', default: false },
      yes: { type: 'boolean', short: 'y', default: false },
      help: { type: 'boolean', short: 'h', default: false },
      version: { type: 'boolean', short: 'v', default: false },
    },
  })
  if (positionals.length > 1) {
    throw new Refusal(`Name one folder, not ${positionals.length}: ${positionals.join(', ')}`)
  }
  const [folder] = positionals
  const { database, 'no-install': noInstall, ...flags } = values
  return {
    ...flags,
    install: !noInstall,
    ...(folder !== undefined && { folder }),
    ...(database !== undefined && { database: toDatabase(database) }),
  }
}

function toDatabase(text: string): Database {
  const found = databases.find((database) => database === text)
  if (found === undefined) throw new Refusal(`There is no database "${text}": ${databases.join(' or ')}`)
  return found
}

function withDefaults({ folder = 'my-app', database = 'sqlite' }: Partial<Answers>): Answers {
  return { folder, database }
}

async function askForMissing(given: Partial<Answers>, { input, output }: Terminal): Promise<Answers> {
  if (input.isTTY !== true || output.isTTY !== true) return withDefaults(given)
  const lines = createInterface({ input, output })
  try {
    const folder = given.folder ?? ((await ask(lines, 'Folder of the application (my-app): ')) || undefined)
    if (folder !== undefined) checkTarget(folder)
    const database =
      given.database ?? toDatabase((await ask(lines, 'Database, sqlite or postgres (sqlite): ')) || 'sqlite')
    return withDefaults({ database, ...(folder !== undefined && { folder }) })
  } finally {
    lines.close()
  }
}

/** A question would wait for ever when the input ends: Ctrl-D and Ctrl-C close the interface. */
async function ask(lines: Interface, question: string): Promise<string> {
  const ended = new AbortController()
  const abort = () => ended.abort()
  lines.once('close', abort)
  try {
    return (await lines.question(question, { signal: ended.signal })).trim()
  } catch (cause) {
    throw new Refusal('\nNothing was created.', { cause })
  } finally {
    lines.off('close', abort)
  }
}

/** The program that runs this one, `npm` where that is not known. */
function packageManager({ npm_config_user_agent: agent = '' }: Terminal['env']): string {
  return /^(?:npm|pnpm|yarn|bun)(?=\/)/.exec(agent)?.[0] ?? 'npm'
}

async function installDependencies(manager: string, folder: string): Promise<boolean> {
  // On Windows these programs are scripts, which only a shell runs; the arguments are constant.
  const child = spawn(manager, ['install'], {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  try {
    const [code] = await once(child, 'close')
    return code === 0
  } catch {
    return false // there is no such program
  }
}

/** What people read about an error that is not a defect. */
function messageOf(error: unknown): string | undefined {
  if (error instanceof Refusal) return error.message
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code.startsWith('ERR_PARSE_ARGS_')) return `${firstSentence(error)} See --help.`
  return /^E[A-Z]+$/.test(code) ? `The folder cannot be written: ${code}` : undefined
}

function firstSentence(error: unknown): string {
  const { message } = error as Error
  return /^[^]*?\.(?=\s|$)/.exec(message)?.[0] ?? `${message}.`
}
