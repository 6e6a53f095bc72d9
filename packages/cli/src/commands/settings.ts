/** The commands `settings …`. */
import { readFile, writeFile } from 'node:fs/promises'
import { NotFoundException } from '@fastify-modular/core'
import { argumentProblems, option, safeText, Type } from '@fastify-modular/core/internal'
import {
  type CompleteDefinition,
  type JsonValue,
  type SettingsExport,
  SettingScope,
  SettingType,
  type SettingValueDto,
} from '@fastify-modular/settings'
import { Option } from 'commander'
import type { FastifyInstance } from 'fastify'
import { type CliCommand, type Options, UsageError } from '../command.ts'
import { exitCodes, type Report } from '../report.ts'

const user = new Option('--user <id>', 'the value of this user').conflicts('tenant')
const tenant = new Option('--tenant <id>', 'the value of this tenant')
const note = new Option('--note <text>', 'the reason, for the history')
const dryRun = new Option('--dry-run', 'shows what would change; exit code 3 if anything would')

export const settingsCommands: Readonly<Record<string, CliCommand>> = {
  'settings list': {
    summary: 'all settings with their values; with --user or --tenant what that one has stored',
    options: [user, tenant, new Option('--changed', 'only those that are not at their default')],
    async run(app, { options }) {
      const values = await app.settings.list(ownerOf(options))
      const shown = values.filter(({ source }) => !options.changed || source !== 'default')
      return { ...table(app, shown), data: shown }
    },
  },
  'settings get': {
    summary: 'one value, and where it comes from',
    args: '<key>',
    options: [user, tenant],
    async run(app, { args: [key = ''], options }) {
      const value = await app.settings.record(key, ownerOf(options))
      if (value === null) throw new NotFoundException('Setting', key)
      return { ...table(app, [value]), data: value }
    },
  },
  'settings set': {
    summary:
      'writes one value; handlers of events in other processes do not run for it unless events are durable',
    args: '<key> [value]',
    options: [
      user,
      tenant,
      note,
      new Option('--json-value', 'VALUE is JSON'),
      new Option('--stdin', 'reads the value from standard input: the only way for secrets'),
    ],
    async run(app, { args: [key = '', argument], options, stdin, author }) {
      const definition = app.settings.definitions.getDefinition(key)
      if (definition === null) throw new NotFoundException('Setting', key)
      if (definition.sensitive && argument !== undefined)
        throw new UsageError(`"${key}" is a secret. Pass it by --stdin: arguments are visible to others.`)
      const text = argument ?? stdin
      if (text === undefined) throw new UsageError('Name the value, or pass it by --stdin.')
      const place = { ...ownerOf(options), ...author, origin: 'cli' }
      await app.settings.set(key, toValue(definition, text, options), place)
      return { lines: [`${key} is set.`] }
    },
  },
  'settings unset': {
    summary: 'removes a stored value, so that the default holds',
    args: '<key>',
    options: [user, tenant, note],
    replaces: () => true,
    async run(app, { args: [key = ''], options, author }) {
      await app.settings.reset(key, { ...ownerOf(options), ...author, origin: 'cli' })
      return { lines: [`${key} is no longer set.`] }
    },
  },
  'settings history': {
    summary: 'what happened to settings, newest first',
    args: '[key]',
    options: [user, tenant, new Option('--limit <n>', 'at most so many entries, up to 500 (default 50)')],
    async run(app, { args: [key], options }) {
      const limit = Number(options.limit ?? 50)
      const filter = { limit, ...ownerOf(options), ...(key !== undefined && { key }) }
      const { entries } = await app.settings.history(filter)
      const columns = ['revision', 'at', 'key', 'oldValue', 'newValue', 'actor', 'origin', 'note']
      return { rows: entries, columns }
    },
  },
  'settings export': {
    summary: 'all stored System and Application values but secrets, as JSON',
    args: '[file]',
    async run(app, { args: [file] }) {
      const data = app.settings.export()
      const text = JSON.stringify(data, null, 2)
      if (file === undefined) return { data, lines: [text] }
      await writeFile(file, `${text}\n`)
      return { data, rows: [{ file, values: data.settings.length, omitted: data.omitted.join(', ') }] }
    },
  },
  'settings import': {
    summary: 'writes the values of an export, all or nothing',
    args: '<file>',
    options: [
      note,
      dryRun,
      new Option('--replace', 'also removes stored values that the file lacks, but secrets'),
    ],
    replaces: ({ dryRun }) => !dryRun,
    async run(app, { args: [file = ''], options, author }) {
      const mode = options.replace ? 'replace' : 'merge'
      const { dryRun = false } = options
      const report = await app.settings.import(await readExport(file), { ...author, dryRun, mode })
      const changes = ['create', 'update', 'delete'] as const
      const rows = [...changes, ...(['unchanged', 'unknown', 'kept'] as const)].flatMap((change) =>
        report[change].map((key) => ({ change, key })),
      )
      const differs = changes.some((change) => report[change].length > 0)
      return { data: report, rows, exit: dryRun && differs ? exitCodes.differences : exitCodes.done }
    },
  },
  'settings revert': {
    summary: 'puts back every value that a change set replaced, all or nothing',
    args: '<revision>',
    options: [note, dryRun],
    replaces: ({ dryRun }) => !dryRun,
    async run(app, { args: [revision], options: { dryRun = false }, author }) {
      const report = await app.settings.revert(Number(revision), { ...author, dryRun })
      const differs = report.values.some(({ change }) => change !== 'none')
      const columns = ['key', 'change', 'oldValue', 'newValue']
      return {
        data: report,
        rows: report.values,
        columns,
        exit: dryRun && differs ? exitCodes.differences : exitCodes.done,
      }
    },
  },
  'settings reencrypt': {
    summary: 'encrypts all secrets with the newest key; exit code 1 if no key decrypts one',
    async run(app) {
      const report = await app.settings.reencrypt()
      return done(report, report.unreadable.length > 0 ? exitCodes.failed : exitCodes.done)
    },
  },
  'settings orphans': {
    summary: 'what is stored for settings that no module defines, or in a scope that they do not have',
    async run(app) {
      const found = await app.settings.orphans()
      const rows = found.map((orphan) => ({ ...orphan, scope: scopeName(orphan.scope) }))
      const advice =
        'Keep what a deployment brings back. "settings copy" takes it to another setting, "settings forget" removes it.'
      return { data: found, rows, lines: [found.length === 0 ? 'There are no orphans.' : advice] }
    },
  },
  'settings copy': {
    summary: 'copies the values of one setting to another one; again after the deployment that renames it',
    args: '<from> <to>',
    options: [note, new Option('--overwrite', 'also replaces values of the target')],
    replaces: ({ overwrite }) => overwrite === true,
    async run(app, { args: [from = '', to = ''], options: { overwrite = false }, author }) {
      const report = await app.settings.copy(from, to, { ...author, overwrite })
      const isLeft = report.newer > 0 || Object.keys(report.refused).length > 0
      return done(report, isLeft ? exitCodes.differences : exitCodes.done)
    },
  },
  'settings forget': {
    summary: 'removes values and history of an orphan',
    args: '<key>',
    replaces: () => true,
    run: async (app, { args: [key = ''] }) => done(await app.settings.forget(key)),
  },
  'settings erase-user': {
    summary: 'removes a user: values, their history, and the name wherever it stands',
    args: '<id>',
    replaces: () => true,
    run: async (app, { args: [id = ''] }) => done(await app.settings.eraseUser(id)),
  },
  'settings erase-tenant': {
    summary: 'removes the values of a tenant and their history; first take its members out of it',
    args: '<id>',
    replaces: () => true,
    run: async (app, { args: [id = ''] }) => done(await app.settings.eraseTenant(id)),
  },
}

/** `system` */
export function scopeName(scope: SettingScope): string {
  return Object.keys(SettingScope)[scope]?.toLowerCase() ?? ''
}

/** As a person reads values: a secret only says whether it is set. */
function table(app: FastifyInstance, values: readonly SettingValueDto[]): Report {
  const rows = values.map(({ value, scope, ...rest }) => {
    const isSecret = app.settings.definitions.getDefinition(rest.key)?.sensitive === true
    return { ...rest, value: isSecret && rest.isOverridden ? '••••••••' : value, scope: scopeName(scope) }
  })
  return { rows, columns: ['key', 'value', 'scope', 'source', 'updatedAt', 'updatedBy'] }
}

/** Whose value is named; the parser refuses a user and a tenant. */
function ownerOf({ user, tenant }: Options) {
  return { ...(user !== undefined && { userId: user }), ...(tenant !== undefined && { tenant }) }
}

/** What a method of the settings says that it has done, as one row. */
function done(report: object, exit: Report['exit'] = exitCodes.done): Report {
  const cells = Object.entries(report).map(([name, cell]) => [
    name,
    Array.isArray(cell) ? cell.join('; ') : cell,
  ])
  return { data: report, rows: [Object.fromEntries(cells)], exit }
}

/** Types whose values are typed as JSON, with what is said where that fails. */
const jsonTypes: Readonly<Partial<Record<SettingType, string>>> = {
  [SettingType.Number]: 'Use a number.',
  [SettingType.Bool]: 'Use true or false.',
  [SettingType.Json]: 'The value is not JSON.',
}

/** The text of a person as a value of the definition's type, which the write checks. */
function toValue({ type }: CompleteDefinition, text: string, { jsonValue }: Options): JsonValue {
  const failure = jsonValue ? jsonTypes[SettingType.Json] : jsonTypes[type]
  if (failure === undefined) return text
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    throw new UsageError(failure)
  }
}

const Entry = Type.Object({
  key: Type.String(),
  scope: Type.Union([Type.Literal(SettingScope.System), Type.Literal(SettingScope.Application)]),
  value: Type.Unknown(),
})
const ExportFile = Type.Object({
  format: Type.Literal(1, { description: '1' }),
  settings: option.required(
    Type.Array(Entry, { description: 'a list of { key, scope, value }, of scope 0 or 1' }),
  ),
  omitted: Type.Unknown(),
})

/** @throws {UsageError} it is not the file of an export */
async function readExport(file: string): Promise<SettingsExport> {
  try {
    const content = JSON.parse(await readFile(file, 'utf8'))
    const problems = argumentProblems(ExportFile, content, 'it')
    if (problems.length > 0) throw new SyntaxError(problems.join('; '))
    return content
  } catch (error) {
    throw new UsageError(`${file} is not an export of settings: ${safeText(error, 'message')}`)
  }
}
