/** What others change while a page is open, as its rows show it. */
import type { StreamedSetting } from '@fastify-modular/settings/client/internal'
import { type EditorState, withValues } from './editor-state.ts'
import { isSameJson, type SettingValue } from './setting.ts'

/** Milliseconds for which a change is tinted, and for which it was made just now. */
export const tinted = 4000
export const justNow = 60_000

/** What the page knows of a setting: what it shows, or of a draft what somebody has saved meanwhile. */
export function newestOf({ values, drafts }: EditorState, key: string): SettingValue | undefined {
  return drafts.get(key)?.theirs ?? values.get(key)
}

export interface Arrival {
  readonly value: SettingValue
  /** The stream leaves long values out: this one has to be read. */
  readonly isLong: boolean
}

/**
 * A row of the stream as the list of the API has it; undefined for one that is older than what is known.
 * @param revision of a change; 0 where the event shows everything
 */
export function toArrival(
  known: SettingValue,
  streamed: StreamedSetting,
  { revision, isSecret }: { readonly revision: number; readonly isSecret: boolean },
): Arrival | undefined {
  const { perUser: _, inherits: _tenants, ...row } = streamed
  // The answer to a write from here may be there before the stream shows what was written earlier.
  const isOlder = (row.version || revision) < Math.max(known.version, known.revision ?? 0)
  if (revision > 0 && isOlder) return undefined
  const isSame = row.version === known.version && row.locked === known.locked
  return {
    // Members in the order of the list: what is the same is written the same.
    value: { ...known, ...row, value: row.value ?? (isSecret || 'value' in row ? null : known.value) },
    isLong: !('value' in row) && !isSecret && !isSame,
  }
}

/**
 * Values that have arrived. A row without a draft says who has changed it, unless that was the reader; changed again at
 * once, it says so from the first value on, and nothing where that is back.
 */
export function withNews(
  state: EditorState,
  arrived: readonly SettingValue[],
  { now, isMine }: { readonly now: number; readonly isMine: (value: SettingValue) => boolean },
): EditorState {
  const next = withValues(state, arrived)
  const news = new Map(state.news)
  for (const value of arrived) {
    const { key, version, updatedBy: by, updatedAt } = value
    const before = state.values.get(key)
    if (!before || before.version === version || next.values.get(key) !== value) continue
    const known = news.get(key)
    const from = known?.isFresh && known.version === before.version ? known.from : before
    news.delete(key)
    if (state.drafts.has(key) || isMine(value)) continue
    if (state.byKey.get(key)?.sensitive !== true && isSameJson(from.value, value.value)) continue
    const at = Math.min(now, updatedAt === null ? now : Date.parse(updatedAt))
    news.set(key, { version, from, by, at, isFresh: true })
  }
  return { ...next, news }
}

/** News of these values, fresh no more; a new object each, because their texts say the time. */
export function withOlderNews(state: EditorState, arrived: readonly SettingValue[]): EditorState {
  const news = new Map(state.news)
  for (const { key, version } of arrived) {
    const known = news.get(key)
    if (known?.version === version) news.set(key, { ...known, isFresh: false })
  }
  return { ...state, news }
}
