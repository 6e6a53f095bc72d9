/** Writes an application from the template: all of it, or nothing. */
import { randomBytes, randomUUID } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import validateName from 'validate-npm-package-name'

export const databases = ['sqlite', 'postgres'] as const
export type Database = (typeof databases)[number]

/** What the user asked for and cannot have; its message is all that is printed. */
export class Refusal extends Error {}

/** What the template is called in its own files. */
const templateName = 'my-app'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The version of this package, which the packages of the application have, too. */
export function version(): string {
  const manifest: { readonly version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return manifest.version
}

/** Where an application goes. */
export interface Target {
  /** The name of its package: the last part of the path. */
  readonly name: string
  /** Absolute. */
  readonly path: string
}

/**
 * Where a folder named on the command line is.
 * @throws {Refusal} npm refuses its name, it is not empty, or it is a file
 */
export function checkTarget(folder: string): Target {
  if (folder.trim() === '' || folder.includes('\0')) throw new Refusal('Name the folder of the application.')
  const path = resolve(folder)
  const name = basename(path)
  const { validForNewPackages, errors = [], warnings = [] } = validateName(name)
  if (!validForNewPackages) {
    const [reason = 'npm refuses it'] = [...errors, ...warnings]
    throw new Refusal(`${JSON.stringify(name)} cannot be the name of a package: ${reason}`)
  }
  const found = statSync(path, { throwIfNoEntry: false })
  if (found && !found.isDirectory()) throw new Refusal(`${path} is a file.`)
  if (found && readdirSync(path).length > 0) throw new Refusal(`${path} is not empty.`)
  return { name, path }
}

interface CreateOptions {
  readonly folder: string
  readonly database: Database
}

/**
 * Writes the application into a folder beside its place, or within one that is empty, and moves it when it is complete:
 * what is around an empty folder may be read-only, or another file system.
 * @throws {Refusal} see `checkTarget`
 */
export function createApplication({ folder, database }: CreateOptions): Target {
  const target = checkTarget(folder)
  const parent = existsSync(target.path) ? target.path : dirname(target.path)
  const missing = missingFolders(parent)
  const draft = join(parent, `.${target.name}-${randomUUID()}`)
  try {
    mkdirSync(draft, { recursive: true })
    write(draft, { name: target.name, database })
    move(draft, target.path)
    return target
  } catch (error) {
    if (existsSync(draft)) rmSync(draft, { recursive: true })
    for (const each of missing) if (existsSync(each)) rmdirSync(each)
    throw error
  }
}

/** The folders that have to be made so that there is this one, the innermost first. */
function missingFolders(path: string): string[] {
  return existsSync(path) ? [] : [path, ...missingFolders(dirname(path))]
}

function write(draft: string, { name, database }: { name: string; database: Database }): void {
  cpSync(join(root, 'template'), draft, { recursive: true })
  if (database === 'postgres') cpSync(join(root, 'template-postgres'), draft, { recursive: true })
  renameSync(join(draft, '_gitignore'), join(draft, '.gitignore')) // npm leaves files of that name out of packages
  writeFileSync(join(draft, '.env'), environmentFor({ name, database }), { mode: 0o600 })
  edit(join(draft, 'src/app.ts'), (text) => text.replaceAll(templateName, name))
  edit(join(draft, 'src/home.ts'), (text) => text.replaceAll(templateName, name))
  edit(join(draft, 'src/store.ts'), (text) => text.replaceAll(databaseUrl(templateName), databaseUrl(name)))
  edit(join(draft, 'README.md'), (text) =>
    text.replaceAll(templateName, name).replace(rowOfVariable[database], ''),
  )
  edit(join(draft, 'package.json'), (text) => manifestOf(JSON.parse(text), { name, database }))
}

/** An example of an address, whose database has the name of the application. */
export function databaseUrl(name: string): string {
  return `postgres://user:password@127.0.0.1:5432/${name.replaceAll(/\W/g, '_')}`
}

/** The password and the secret of one developer: they stay when the application restarts. */
function environmentFor({ name, database }: { name: string; database: Database }): string {
  const lines = [
    '# For development, read by src/build.ts. Variables that the process has already win.',
    `DEVELOPMENT_PASSWORD=${randomBytes(12).toString('base64url')}`,
    `SESSION_SECRET=${randomBytes(32).toString('base64url')}`,
    ...(database === 'postgres' ? [`# DATABASE_URL=${databaseUrl(name)}`] : []),
  ]
  return lines.map((line) => `${line}\n`).join('')
}

/** The line about the variable that the other database reads. */
const rowOfVariable: Readonly<Record<Database, RegExp>> = {
  sqlite: /^\| `DATABASE_URL` .*\n/m,
  postgres: /^\| `DATABASE_FILE` .*\n/m,
}

function edit(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, 'utf8')))
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
}

/** The template names the drivers of all databases, and no versions of our packages. */
function manifestOf(template: Manifest, { name, database }: { name: string; database: Database }): string {
  const driver = database === 'postgres' ? 'pg' : hasNodeSqlite() ? undefined : 'better-sqlite3'
  const dependencies = Object.entries(template.dependencies)
    .filter(([each]) => each === driver || !['pg', 'better-sqlite3'].includes(each))
    .map(([each, range]) => [each, each.startsWith('@fastify-modular/') ? `^${version()}` : range])
  const manifest = { ...template, name, dependencies: Object.fromEntries(dependencies) }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

/** Whether this Node brings SQLite along: 22.13 and later. */
const hasNodeSqlite = (): boolean => isBuiltin('node:sqlite')

/**
 * At once where the folder does not exist; file by file into an empty one, which may be a shell's working directory. If one
 * file cannot be moved, those before it are removed.
 */
export function move(draft: string, path: string): void {
  if (!existsSync(path)) return renameSync(draft, path)
  const moved: string[] = []
  try {
    for (const name of readdirSync(draft)) {
      renameSync(join(draft, name), join(path, name))
      moved.push(join(path, name))
    }
    rmdirSync(draft)
  } catch (error) {
    for (const each of moved) rmSync(each, { recursive: true })
    throw error
  }
}
