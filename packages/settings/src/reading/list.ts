/** Lists of values in their order: group, order, key (decision 16). */
import type { Registry } from '../definitions/registry.ts'
import { type SettingState, sharedScope } from '../memory/shared-values.ts'
import type { RowCodec } from '../secrets/row-codec.ts'
import type { CompleteDefinition, JsonValue, SettingScope } from '../setting-definition.ts'
import { isSecret } from '../values/validate.ts'
import { compareText } from '../store/plan-write.ts'
import type { SettingsStore } from '../store/store.ts'
import { visibleTo } from '../visibility.ts'
import { type SettingValueDto, toSharedDto, toUserDto } from './dto.ts'

/** Returns the function that lists all settings. Its order is kept once the definitions are frozen; until then they grow. */
export function createStates(
  registry: Registry,
  find: (key: string) => SettingState | undefined,
): () => readonly SettingState[] {
  let keys: readonly string[] = []
  return function states() {
    const all = registry.all()
    if (keys.length !== all.length) {
      keys = all
        .map(({ definition }) => definition)
        .toSorted(byGroupOrderKey)
        .map(({ key }) => key)
    }
    return keys.flatMap((key) => find(key) ?? [])
  }
}

type Sortable = { readonly group: string | null; readonly order: number; readonly key: string }

function byGroupOrderKey(a: Sortable, b: Sortable): number {
  return compareText(a.group ?? '', b.group ?? '') || a.order - b.order || compareText(a.key, b.key)
}

/** The values of definitions with `public: true`; null for those that cannot be read, none for secrets. */
export function publicValues(states: readonly SettingState[]): Readonly<Record<string, JsonValue>> {
  const stranger = visibleTo(null)
  const shown = states.filter(
    ({ setting, shared }) => stranger.value(setting.definition) && !isSecret(setting, shared.row),
  )
  return Object.fromEntries(
    shown.map(({ setting, shared }) => [setting.definition.key, shared.error ? null : shared.value]),
  )
}

/** What one user has stored. */
export interface OwnValues {
  /** Names the contents: changes with each of them. */
  readonly versions: string
  /** The value as responses show it; its `isOverridden` says whether the user has one. */
  of(state: SettingState): SettingValueDto
}

interface OwnValuesInit {
  readonly store: Pick<SettingsStore, 'users'>
  readonly codec: RowCodec
}

/** Reads the values of a user. @throws {ServiceUnavailableException} the database does not answer */
export async function readOwnValues({ store, codec }: OwnValuesInit, userId: string): Promise<OwnValues> {
  const rows = await store.users.read(userId)
  const byKey = new Map(rows.map((row) => [row.key, row]))
  return {
    versions: JSON.stringify([
      userId,
      ...rows.map(({ key, revision, updatedBy }) => [key, revision, updatedBy]),
    ]),
    of: (state) => toUserDto(state, { userId, row: byKey.get(state.setting.definition.key), codec }),
  }
}

/** The settings that a filter selects. */
export function selectStates(
  states: readonly SettingState[],
  filter: DefinitionFilter,
  translations?: Translations,
): readonly SettingState[] {
  const isSelected = createSelect(filter, translations)
  return isSelected ? states.filter(({ setting }) => isSelected(setting.definition)) : states
}

/** System and Application values, and the application's default of User settings, stored or not. */
export function listShared(
  states: readonly SettingState[],
  filter: SharedFilter,
  translations?: Translations,
): SettingValueDto[] {
  return selectStates(states, filter, translations).flatMap((state) => {
    const scope = sharedScope(state)
    return filter.scope === undefined || filter.scope === scope ? toSharedDto(state, scope) : []
  })
}

type SharedFilter = Omit<SettingsFilter, 'userId' | 'scope'> & { readonly scope?: SettingScope | undefined }

/** Selects definitions; members are combined with AND. */
export interface DefinitionFilter {
  readonly group?: string | undefined
  /** Each word of it occurs in the key, the display name, the description, the group, a tag or a keyword, in any case; blank selects all. */
  readonly q?: string | undefined
  /** One of its tags, in any case; blank selects all. */
  readonly tag?: string | undefined
}

/** The members that are searched. */
type Searchable = Pick<
  CompleteDefinition,
  'key' | 'displayName' | 'description' | 'group' | 'tags' | 'keywords'
>

/** The same definitions in another language, by key. */
export type Translations = ReadonlyMap<string, Searchable>

/**
 * Returns the function that checks whether a definition is selected; undefined if all are.
 * @param translations searched too
 */
export function createSelect(
  { group, q = '', tag = '' }: DefinitionFilter,
  translations?: Translations,
): ((definition: CompleteDefinition) => boolean) | undefined {
  const words = fold(q).split(/\s+/).filter(Boolean)
  const wantedTag = fold(tag.trim())
  if (group === undefined && words.length === 0 && wantedTag === '') return undefined
  return function isSelected(definition) {
    if (group !== undefined && definition.group !== group) return false
    if (wantedTag !== '' && !definition.tags.some((own) => fold(own) === wantedTag)) return false
    if (words.length === 0) return true
    const translated = translations?.get(definition.key)
    const text = textOf(definition) + (translated ? `\n${textOf(translated)}` : '')
    return words.every((word) => text.includes(word))
  }
}

const texts = new WeakMap<Searchable, string>()

/** The text to search; made once, because definitions never change. */
function textOf(definition: Searchable): string {
  const known = texts.get(definition)
  if (known !== undefined) return known
  const { key, displayName, description, group, tags, keywords } = definition
  const text = fold([key, displayName, description, group, ...tags, ...keywords].join('\n'))
  texts.set(definition, text)
  return text
}

/** Without the differences that people do not type: case, and the several encodings of one accented letter. */
function fold(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

/** Selects values; members are combined with AND (S 2.6). */
export interface SettingsFilter extends DefinitionFilter {
  readonly scope?: SettingScope
  /** Selects what this user has stored. Required with User scope. @throws {ArgumentException} another scope, no user */
  readonly userId?: string
}
