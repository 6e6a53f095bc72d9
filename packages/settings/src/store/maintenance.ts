/** What the stores in SQL databases do beside reads and writes: they trim, erase owners and encrypt anew, in portions. */
import { SettingScope } from '../setting-definition.ts'
import { compareRowIds } from './plan-write.ts'
import { isMention } from './schema.ts'
import type { SqlEngine, StatementResult, Steps } from './statements.ts'
import type { Erased, Owner, ReencryptRequest, TrimLimits, TrimResult } from './store.ts'

/** Rows that one transaction takes from a table. */
const atOnce = 500

function* run(text: string, ...values: readonly unknown[]): Steps<StatementResult> {
  const [result] = yield [{ text, values }]
  return result ?? { rows: [], changed: 0 }
}

/** Removes a portion of old history: of what is too old, then of what was written too often. */
export function* trim(engine: SqlEngine, { olderThan, perValue }: TrimLimits): Steps<TrimResult> {
  const { rows } = yield* run(`select ${engine.now()} as now`)
  const now = Number(rows[0]?.['now'])
  const expired = yield* takeNext(engine, 'expired', { now, before: Math.min(olderThan, now), limits: [] })
  return expired.removed > 0 || !expired.isDone
    ? { ...expired, isDone: false }
    : yield* takeNext(engine, 'written', { now, before: now, limits: [perValue - 1, olderThan] })
}

interface Taking {
  readonly now: number
  /** The end of the span. */
  readonly before: number
  /** Further parameters of what selects the entries. */
  readonly limits: readonly number[]
}

/** Takes the next entries of a span of time, which begins at a mark, and moves the mark. */
function* takeNext(
  engine: SqlEngine,
  what: 'expired' | 'written',
  { now, before, limits }: Taking,
): Steps<TrimResult> {
  const { history, meta } = engine.tables
  const { rows: marks } = yield* run(`select value from ${meta} where name = $1`, what)
  const mark = Number(marks[0]?.['value'])
  const first = mark > now ? 0 : mark // the clock was set back: entries are looked at again, which does no harm
  // Entries of one moment go together.
  const { rows: bounds } = yield* run(
    `select at from ${history} where at > $1 and at < $2 order by at limit 1 offset ${atOnce - 1}`,
    first,
    before,
  )
  const last = Number(bounds[0]?.['at'] ?? before - 1)
  const select = what === 'expired' ? selectExpired : selectWritten
  const taken = engine.isOneOf('history', (id) => `${select(engine, id)} limit ${atOnce}`)
  const { changed: removed } = yield* run(`delete from ${history} where ${taken}`, first, last, ...limits)
  // Entries of one moment may be more than one portion.
  if (removed < atOnce && last > first)
    yield* run(`update ${meta} set value = $1 where name = $2`, String(last), what)
  return { removed, isDone: removed < atOnce && last >= before - 1 }
}

/** The entries of a span of time that are not the newest ones of their values. */
function selectExpired({ tables: { history } }: SqlEngine, id: string): string {
  return `select ${id} from ${history} o where o.at > $1 and o.at <= $2 and ${isNotNewest(history)}`
}

/** Of the values that were written in a span of time, what is beyond the newest entries; and the oldest one, which was the newest when its time was over. */
function selectWritten({ tables: { history }, lookUp }: SqlEngine, id: string): string {
  const entriesOf = (value: string, entry: string): string =>
    `${entry}.key = ${value}.key and ${entry}.scope = ${value}.scope and ${entry}.owner = ${value}.owner`
  return `with written as materialized (
      select distinct key, scope, owner from ${history} where at > $1 and at <= $2
    ), bounds as materialized (
      select written.*, (
        select revision from ${history} h where ${entriesOf('written', 'h')} order by revision desc limit 1 offset $3
      ) as newest, (
        select min(revision) from ${history} h where ${entriesOf('written', 'h')}
      ) as oldest from written
    )
    select ${id} from bounds ${lookUp(`${entriesOf('bounds', 'o')} and (o.revision < bounds.newest or
      o.revision = bounds.oldest and o.at < $4 and ${isNotNewest(history)})`)}`
}

function isNotNewest(history: string): string {
  return `exists (select 1 from ${history} n
    where n.key = o.key and n.scope = o.scope and n.owner = o.owner and n.revision > o.revision)`
}

/** Whether a row of a table is in one portion of those that a condition about the table `o` selects. */
function isInPortion(engine: SqlEngine, table: 'values' | 'history', condition: string): string {
  return engine.isOneOf(
    table,
    (id) => `select ${id} from ${engine.tables[table]} o where ${condition} limit ${atOnce}`,
  )
}

/** The statements that remove one portion of both tables. */
function removals(engine: SqlEngine, condition: string): string[] {
  return (['values', 'history'] as const).map(
    (table) => `delete from ${engine.tables[table]} where ${isInPortion(engine, table, condition)}`,
  )
}

/** Erases one portion of an owner. Others' rows lose the name of a user where they bear it for their writer. */
export function* erase(engine: SqlEngine, owner: Owner): Steps<Erased> {
  const { values, history } = engine.tables
  const removed = removals(engine, `o.scope >= 2 and o.scope = ${owner.scope} and o.owner = $1`)
  const isWritten = isInPortion(engine, 'values', `o.updated_by = $1 and ${isMention('updated_by')}`)
  const isMade = isInPortion(engine, 'history', `o.actor = $1 and ${isMention('actor')}`)
  const mentions = [
    `update ${values} set updated_by = null where ${isWritten}`,
    `update ${history} set actor = null, note = null where ${isMade}`,
  ]
  const changes = owner.scope === SettingScope.User ? [...removed, ...mentions] : removed
  yield engine.lockOwner(owner, atOnce)
  const results = yield changes.map((text) => ({ text, values: [owner.id] }))
  const counts = results.map(({ changed }) => changed)
  const [ownValues = 0, ownEntries = 0, writers = 0, actors = 0] = counts
  if (ownValues + ownEntries + writers > 0) yield engine.noteErasure()
  const isDone = counts.every((rows) => rows < atOnce)
  return { values: ownValues, history: ownEntries, mentions: writers + actors, isDone }
}

/** Removes one portion of what is stored for a key in some scopes. */
export function* forget(
  engine: SqlEngine,
  key: string,
  scopes: readonly SettingScope[],
): Steps<Omit<Erased, 'mentions'>> {
  const removed = removals(engine, `o.key = $1 and o.scope in (${scopes.join(', ')})`)
  const results = yield removed.map((text) => ({ text, values: [key] }))
  const [values = 0, history = 0] = results.map(({ changed }) => changed)
  const counts = { values, history }
  if (counts.values > 0) yield engine.noteErasure()
  return { ...counts, isDone: counts.values < atOnce && counts.history < atOnce }
}

/** Replaces texts of rows that are as they were read. */
export function* reencrypt(engine: SqlEngine, { values, history }: ReencryptRequest): Steps<number> {
  const results = yield [
    ...values
      .toSorted((a, b) => compareRowIds(a.before, b.before))
      .map(({ before, after }) => ({
        text: `update ${engine.tables.values} set value = $1, encrypted = $2
          where scope = $3 and owner = $4 and key = $5 and revision = $6 and value = $7`,
        values: [
          after.value,
          after.encrypted,
          before.scope,
          before.owner,
          before.key,
          before.revision,
          before.value,
        ],
      })),
    ...history.map(({ before, after }) => ({
      text: `update ${engine.tables.history} set old_value = $1, old_encrypted = $2, new_value = $3, new_encrypted = $4
        where revision = $5 and scope = $6 and owner = $7 and key = $8
          and old_value is not distinct from $9 and new_value is not distinct from $10`,
      values: [
        after.oldValue,
        after.oldEncrypted,
        after.newValue,
        after.newEncrypted,
        before.revision,
        before.scope,
        before.owner,
        before.key,
        before.oldValue,
        before.newValue,
      ],
    })),
  ]
  return results.reduce((sum, { changed }) => sum + changed, 0)
}
