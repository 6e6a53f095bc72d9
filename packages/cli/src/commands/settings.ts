/** The commands `settings …`. */
import { readFile, writeFile } from 'node:fs/promises'
import {
  type ErasureReport,
  type JsonValue,
  type SettingsExport,
  SettingScope,
  SettingType,
  type SettingValueDto,
} from '@fastify-modular/settings'
import type { FastifyInstance } from 'fastify'
import { authorOf, type CliCommand, type Invocation, textOption, UsageError } from '../command.ts'
import { exitCodes, type Report } from '../report.ts'

const owner = { '--user <id>': 'the value of this user', '--tenant <id>': 'the value of this tenant' }
const note = { '--note <text>': 'the reason, for the history' }

/** In place of a secret. */
const secret = '••••••••'

export const scopeNames: Readonly<Record<SettingScope, string>> = {
  [SettingScope.System]: 'system',
  [SettingScope.Application]: 'application',
  [SettingScope.User]: 'user',
  [SettingScope.Tenant]: 'tenant',
}

export const settingsCommands: Readonly<Record<string, CliCommand>> = {
  'settings list': {
    summary: 'all settings with their values; with --user or --tenant what that one has stored',
    options: { ...owner, '--changed': 'only those that are not at their default' },
    run: list,
  },
  'settings get': {
    summary: 'one value, and where it comes from',
    args: '<key>',
    options: owner,
    run: get,
  },
  'settings set': {
    summary:
      'writes one value; handlers of events in other processes do not run for it unless events are durable',
    args: '<key> [value]',
    options: {
      ...owner,
      ...note,
      '--json-value': 'VALUE is JSON',
      '--stdin': 'reads the value from standard input: the only way for secrets',
    },
    run: set,
  },
  'settings unset': {
    summary: 'removes a stored value, so that the default holds',
    args: '<key>',
    options: { ...owner, ...note },
    replaces: true,
    run: unset,
  },
  'settings history': {
    summary: 'what happened to settings, newest first',
    args: '[key]',
    options: { ...owner, '--limit <n>': 'at most so many entries (default 50)' },
    run: history,
  },
  'settings export': {
    summary: 'all stored System and Application values but secrets, as JSON',
    args: '[file]',
    run: exportFile,
  },
  'settings import': {
    summary: 'writes the values of an export, all or nothing',
    args: '<file>',
    options: {
      ...note,
      '--dry-run': 'shows what would change; exit code 3 if anything would',
      '--replace': 'also removes stored values that the file lacks',
    },
    replaces: ({ options }) => options['dryRun'] !== true,
    run: importFile,
  },
  'settings revert': {
    summary: 'puts back every value that a change set replaced, all or nothing',
    args: '<revision>',
    options: { ...note, '--dry-run': 'shows what would change; exit code 3 if anything would' },
    replaces: ({ options }) => options['dryRun'] !== true,
    run: revert,
  },
  'settings reencrypt': { summary: 'encrypts all secrets with the newest key', run: reencrypt },
  'settings orphans': {
    summary: 'what is stored for settings that no module defines, or in a scope that they do not have',
    run: orphans,
  },
  'settings copy': {
    summary: 'copies the values of one setting to another one; again after the deployment that renames it',
    args: '<from> <to>',
    options: { ...note, '--overwrite': 'also replaces values of the target' },
    replaces: ({ options }) => options['overwrite'] === true,
    run: copy,
  },
  'settings forget': {
    summary: 'removes values and history of an orphan',
    args: '<key>',
    replaces: true,
    run: forget,
  },
  'settings erase-user': {
    summary: 'removes a user: values, their history, and the name wherever it stands',
    args: '<id>',
    replaces: true,
    run: (app, { args: [id = ''] }) => erase(app.settings.eraseUser(id)),
  },
  'settings erase-tenant': {
    summary: 'removes the values of a tenant and their history; first take its members out of it',
    args: '<id>',
    replaces: true,
    run: (app, { args: [id = ''] }) => erase(app.settings.eraseTenant(id)),
  },
}

async function list(app: FastifyInstance, invocation: Invocation): Promise<Report> {
  const values = await app.settings.list(ownerOf(invocation))
  const isWanted = ({ source }: SettingValueDto) =>
    invocation.options['changed'] !== true || source !== 'default'
  const shown = values.filter(isWanted)
  return { data: shown, rows: shown.map((value) => toRow(app, value)) }
}

/** As a person reads it: a secret only says whether it is set. */
function toRow(app: FastifyInstance, { key, value, isOverridden, scope, source, ...last }: SettingValueDto) {
  const isSecret = app.settings.definitions.getDefinition(key)?.sensitive === true
  const shown = isSecret && isOverridden ? secret : value
  return {
    key,
    value: shown,
    scope: scopeNames[scope],
    source,
    changed: last.updatedAt,
    by: last.updatedBy,
  }
}

async function get(app: FastifyInstance, invocation: Invocation): Promise<Report> {
  const { definition, place } = target(app, invocation)
  const value = await app.settings.record(definition.key, place)
  if (value === null) throw new UsageError(`The setting "${definition.key}" has no value there.`)
  return { data: value, rows: [toRow(app, value)] }
}

async function set(app: FastifyInstance, invocation: Invocation): Promise<Report> {
  const { definition, place } = target(app, invocation)
  const { key, sensitive } = definition
  const [, argument] = invocation.args
  if (sensitive && argument !== undefined)
    throw new UsageError(`"${key}" is a secret. Pass it by --stdin: arguments are visible to others.`)
  const text = argument ?? invocation.stdin
  if (text === undefined) throw new UsageError('Name the value, or pass it by --stdin.')
  const value = invocation.options['jsonValue'] === true ? parseJson(text) : toValue(definition, text)
  await app.settings.set(key, value, { ...place, ...authorOf(invocation), origin: 'cli' })
  return { lines: [`${key} is set.`] }
}

async function unset(app: FastifyInstance, invocation: Invocation): Promise<Report> {
  const { definition, place } = target(app, invocation)
  await app.settings.reset(definition.key, { ...place, ...authorOf(invocation), origin: 'cli' })
  return { lines: [`${definition.key} is no longer set.`] }
}

/** The setting and the place that are named. @throws {UsageError} no module defines the key */
function target(app: FastifyInstance, invocation: Invocation) {
  const [key = ''] = invocation.args
  const definition = app.settings.definitions.getDefinition(key)
  if (definition === null) throw new UsageError(`No module defines the setting "${key}".`)
  return { definition, place: ownerOf(invocation) }
}

/** Whose value is named. @throws {UsageError} a user and a tenant */
function ownerOf(invocation: Invocation) {
  const userId = textOption(invocation, 'user')
  const tenant = textOption(invocation, 'tenant')
  if (userId !== undefined && tenant !== undefined)
    throw new UsageError('Name a user or a tenant: a value belongs to one of them.')
  return { ...(userId !== undefined && { userId }), ...(tenant !== undefined && { tenant }) }
}

/** The text of a person as a value of the definition's type. */
function toValue({ type }: { readonly type: SettingType }, text: string): JsonValue {
  if (type === SettingType.Json) return parseJson(text)
  if (type === SettingType.Bool) {
    if (text === 'true' || text === 'false') return text === 'true'
    throw new UsageError('Use true or false.')
  }
  if (type !== SettingType.Number) return text
  const number = Number(text)
  if (text.trim() === '' || !Number.isFinite(number)) throw new UsageError('Use a number.')
  return number
}

/** @throws {UsageError} it is not JSON */
function parseJson(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue // the definition checks it
  } catch {
    throw new UsageError('The value is not JSON.')
  }
}

async function history(app: FastifyInstance, invocation: Invocation): Promise<Report> {
  const [key] = invocation.args
  const limit = Number(textOption(invocation, 'limit') ?? 50)
  if (!Number.isInteger(limit) || limit < 1 || limit > 500) throw new UsageError('Use a limit from 1 to 500.')
  const filter = { limit, ...ownerOf(invocation), ...(key !== undefined && { key }) }
  const { entries } = await app.settings.history(filter)
  return {
    data: entries,
    rows: entries.map(({ revision, at, key: changed, oldValue, newValue, actor, origin, note: why }) => ({
      revision,
      at,
      key: changed,
      before: oldValue,
      after: newValue,
      by: actor,
      origin,
      note: why,
    })),
  }
}

async function exportFile(app: FastifyInstance, { args: [file] }: Invocation): Promise<Report> {
  const data = app.settings.export()
  const text = JSON.stringify(data, null, 2)
  if (file === undefined) return { data, lines: [text] }
  await writeFile(file, `${text}\n`)
  const left = data.omitted.length === 0 ? '' : ` Not in the file: ${data.omitted.join(', ')}.`
  return { data, lines: [`${file} has ${amount(data.settings.length, 'value')}.${left}`] }
}

async function importFile(app: FastifyInstance, invocation: Invocation): Promise<Report> {
  const { args, options } = invocation
  const dryRun = options['dryRun'] === true
  const mode = options['replace'] === true ? 'replace' : 'merge'
  const file = await readExport(args[0] ?? '')
  const report = await app.settings.import(file, { ...authorOf(invocation), dryRun, mode })
  const kinds = ['create', 'update', 'delete', 'unchanged', 'unknown', 'kept'] as const
  const rows = kinds.flatMap((change) => report[change].map((key) => ({ change, key })))
  const changes = report.create.length + report.update.length + report.delete.length
  const said = `${amount(changes, 'value')} ${dryRun ? 'would change' : 'changed'}.`
  return {
    data: report,
    rows,
    lines: [said],
    exit: dryRun && changes > 0 ? exitCodes.differences : exitCodes.done,
  }
}

/** @throws {UsageError} it is not the file of an export */
async function readExport(file: string): Promise<Pick<SettingsExport, 'settings'>> {
  let content: unknown
  try {
    content = JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (isExport(content)) return content
  throw new UsageError(
    `${file} is not an export of settings: { "format": 1, "settings": [{ "key", "scope", "value" }] }.`,
  )
}

function isExport(content: unknown): content is Pick<SettingsExport, 'settings'> {
  if (typeof content !== 'object' || content === null || !('settings' in content)) return false
  const { settings } = content
  return (
    Array.isArray(settings) &&
    settings.every(
      (entry: unknown) =>
        typeof entry === 'object' &&
        entry !== null &&
        'key' in entry &&
        typeof entry.key === 'string' &&
        'scope' in entry &&
        (entry.scope === SettingScope.System || entry.scope === SettingScope.Application) &&
        'value' in entry,
    )
  )
}

async function revert(app: FastifyInstance, invocation: Invocation): Promise<Report> {
  const revision = Number(invocation.args[0])
  if (!Number.isSafeInteger(revision) || revision < 1) throw new UsageError('Use the number of a revision.')
  const dryRun = invocation.options['dryRun'] === true
  const report = await app.settings.revert(revision, { ...authorOf(invocation), dryRun })
  const rows = report.values.map(({ key, change, oldValue, newValue, isSecret }) => ({
    key,
    change,
    now: isSecret ? secret : oldValue,
    'put back': isSecret ? secret : newValue,
  }))
  const differs = dryRun && report.values.some(({ change }) => change !== 'none')
  return { data: report, rows, exit: differs ? exitCodes.differences : exitCodes.done }
}

async function reencrypt(app: FastifyInstance): Promise<Report> {
  const report = await app.settings.reencrypt()
  const { reencrypted, history: entries, unreadable } = report
  const lines = [
    `${amount(reencrypted, 'value')} and ${amount(entries, 'entry')} of the history are encrypted with the newest key.`,
  ]
  if (unreadable.length === 0) return { data: report, lines }
  lines.push(`No key at hand decrypts: ${unreadable.join(', ')}.`)
  return { data: report, lines, exit: exitCodes.failed }
}

async function orphans(app: FastifyInstance): Promise<Report> {
  const found = await app.settings.orphans()
  const rows = found.map(({ key, scope, rows: count }) => ({ key, scope: scopeNames[scope], rows: count }))
  const advice =
    'Keep what a deployment brings back. "settings copy" takes it to another setting, "settings forget" removes it.'
  return { data: found, rows, lines: [found.length === 0 ? 'There are no orphans.' : advice] }
}

async function copy(app: FastifyInstance, invocation: Invocation): Promise<Report> {
  const [from = '', to = ''] = invocation.args
  const overwrite = invocation.options['overwrite'] === true
  const report = await app.settings.copy(from, to, { ...authorOf(invocation), overwrite })
  const { copied, unchanged, kept, newer, refused } = report
  const lines = [
    `${copied} copied, ${unchanged} equal, ${kept} left as they are.`,
    ...(newer > 0 ? [`Of ${newer} the source is newer than the copy: --overwrite takes it.`] : []),
    ...Object.entries(refused).map(([reason, rows]) => `${rows} not copied: ${reason}.`),
  ]
  const isWhole = newer === 0 && Object.keys(refused).length === 0
  return { data: report, lines, exit: isWhole ? exitCodes.done : exitCodes.differences }
}

async function forget(app: FastifyInstance, { args: [key = ''] }: Invocation): Promise<Report> {
  const report = await app.settings.forget(key)
  return {
    data: report,
    lines: [
      `${amount(report.values, 'value')} and ${amount(report.history, 'entry')} of the history are gone.`,
    ],
  }
}

async function erase(running: Promise<ErasureReport>): Promise<Report> {
  const report = await running
  const { values, history: entries, mentions, left } = report
  const lines = [
    `${amount(values, 'value')}, ${amount(entries, 'entry')} of the history and ${amount(mentions, 'mention')} are gone.`,
    `Left: ${left.join('; ')}.`,
  ]
  return { data: report, lines }
}

/** `1 entry`, `2 entries` */
function amount(count: number, word: string): string {
  return `${count} ${count === 1 ? word : word.replace(/y?$/, (end) => (end ? 'ies' : 's'))}`
}
