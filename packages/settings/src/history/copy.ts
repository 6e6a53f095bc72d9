/** Copies the values of one setting to another one: before and after a deployment that renames it, or changes its scope. */
import { isDeepStrictEqual } from 'node:util'
import { isDomainException } from '@fastify-modular/core'
import { PreconditionFailedException, SettingValidationException } from '../exceptions.ts'
import { requireSetting, type SettingState } from '../memory/shared-values.ts'
import type { Parts } from '../parts.ts'
import { isPlaceOf } from '../places.ts'
import { isOwned, type JsonValue } from '../setting-definition.ts'
import type { RowId, StoredRow } from '../store/store.ts'
import { readText } from '../values/json.ts'
import type { WriteOptions } from '../write/write.ts'
import { pages } from './reencrypt.ts'

export interface CopyOptions extends WriteOptions {
  /** Also replaces values of the target that differ. @default false */
  readonly overwrite?: boolean
}

/** What a copy did; counts of rows. */
export interface CopyReport {
  readonly copied: number
  /** The target has the same value. */
  readonly unchanged: number
  /** The target has another value, which stays. */
  readonly kept: number
  /** Of these, those whose source was changed later than the target. */
  readonly newer: number
  /** Why rows were not copied: their number by reason. */
  readonly refused: Readonly<Record<string, number>>
}

type Outcome = 'copied' | 'unchanged' | 'kept' | 'newer' | { readonly refused: string }

/** Rows that one look at the store brings. */
const portion = 500

/**
 * Copies what is stored for `from`, which need not be defined any more, to the setting `to`; no history. Each row is a write of
 * its own: safe to repeat and to interrupt. Where both names are equal, values in the scope that the definition had before go
 * to that of today.
 * @throws {NotFoundException} no module defines `to`
 */
export async function copySetting(
  parts: Parts,
  from: string,
  to: string,
  options: CopyOptions = {},
): Promise<CopyReport> {
  const target = requireSetting(parts.sharedValues, to)
  const counts = { copied: 0, unchanged: 0, kept: 0, newer: 0 }
  const refused: Record<string, number> = {}
  for await (const rows of pages((after: StoredRow | null) => parts.store.scan.values(after, portion)))
    for (const row of rows.filter(({ key }) => key === from))
      count(await copyRow(parts, row, target, options))
  return { ...counts, refused }

  function count(outcome: Outcome): void {
    if (typeof outcome === 'object') refused[outcome.refused] = (refused[outcome.refused] ?? 0) + 1
    else counts[outcome]++
    if (outcome === 'newer') counts.kept++
  }
}

async function copyRow(
  parts: Parts,
  row: StoredRow,
  target: SettingState,
  { overwrite = false, ...options }: CopyOptions,
): Promise<Outcome> {
  const id = targetOf(row, target)
  if (typeof id === 'string') return { refused: id }
  const value = valueOf(parts, row)
  if (value === undefined) return { refused: 'it cannot be decrypted' }
  const isSecret = row.encrypted || parts.registry.find(row.key)?.definition.sensitive === true
  if (isSecret && !target.setting.definition.sensitive)
    return { refused: 'it is a secret, and the target is not' }
  const expects = overwrite ? undefined : (revision: number) => revision === 0
  try {
    const { entries } = await parts.write([{ ...id, state: target, value, expects }], {
      origin: 'copy',
      ...options,
    })
    return entries[0]?.kind === 'none' ? 'unchanged' : 'copied'
  } catch (error) {
    if (error instanceof PreconditionFailedException) return compare(parts, row, id, value)
    if (error instanceof SettingValidationException)
      return { refused: 'the value breaks the definition of the target' }
    if (isDomainException(error) && error.statusCode === 409) return { refused: 'the target is locked' }
    throw error
  }
}

/** The row that a row is copied to, or why there is none. */
function targetOf(row: StoredRow, { setting }: SettingState): RowId | string {
  const { key } = setting.definition
  if (row.key !== key) {
    return isPlaceOf(setting, row.scope)
      ? { key, scope: row.scope, owner: row.owner }
      : `the target has no values in the scope ${row.scope}`
  }
  if (isPlaceOf(setting, row.scope)) return 'it is where it belongs'
  if (isOwned(row.scope)) return 'it belongs to one owner, and the target to all'
  return { key, scope: setting.places[0], owner: '' }
}

/** Undefined where it cannot be decrypted. */
function valueOf({ codec }: Parts, row: StoredRow): JsonValue | undefined {
  try {
    return readText(codec.textOf(row, row))
  } catch {
    return undefined
  }
}

/** The target has a value: whether it is the same, and which one is newer. */
async function compare(parts: Parts, row: StoredRow, id: RowId, value: JsonValue): Promise<Outcome> {
  const rows = isOwned(id.scope)
    ? await parts.store.owned.read({ scope: id.scope, id: id.owner })
    : (await parts.store.shared.read()).rows
  const found = rows.find(({ key, scope }) => key === id.key && scope === id.scope)
  if (!found) return 'kept' // removed a moment ago
  if (isDeepStrictEqual(valueOf(parts, found), value)) return 'unchanged'
  return row.updatedAt > found.updatedAt ? 'newer' : 'kept'
}
