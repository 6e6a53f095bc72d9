/** Groups with a face: an icon, a sentence and a link, as the application and its modules describe them. */
import {
  acceptedLocales,
  canonicalLocale,
  option,
  optionProblems,
  refuseOptions,
  Type,
} from '@fastify-modular/core/internal'
import type { FastifyBaseLogger } from 'fastify'

/** What pages show of a group besides its settings. */
export interface SettingGroup {
  /** What pages show in place of its name. */
  readonly displayName?: string
  /** The name of an icon of the pages, such as `mail`. */
  readonly icon?: string
  /** One sentence. */
  readonly description?: string
  /** A link to where something can be done about the group: a path, or an http or https URL. */
  readonly action?: {
    readonly label: string
    readonly href: string
    /** Whom pages show it: callers who have this permission. @default everybody */
    readonly permission?: string
  }
}

/** The texts of a group in one language; what is left out stays as it is. */
interface GroupTexts {
  readonly displayName?: string
  readonly description?: string
  /** The label of the action. */
  readonly action?: string
}

/**
 * The texts of a group in a language such as `de`, or undefined where there are none: English then. Called for every group that
 * a definition names, described or not; synchronous.
 */
export type TranslateGroup = (name: string, group: SettingGroup, locale: string) => GroupTexts | undefined

/** Descriptions of groups by their name. */
export type SettingGroups = Readonly<Record<string, SettingGroup>>

const groupSchema = Type.Record(
  Type.String(),
  Type.Partial(
    Type.Object({
      displayName: option.string(),
      icon: option.string(),
      description: option.string(),
      action: Type.Object({
        label: Type.String(),
        href: Type.String({ pattern: String.raw`^(?:/(?![/\\])|https?://)[^\\\s]*$` }),
        permission: Type.Optional(option.string()),
      }),
    }),
  ),
  {
    description:
      'an object with displayName, icon, description and action by group, each action with label and href, a path or an http or https URL',
  },
)

/** What translates descriptions, and into which languages. */
interface Languages {
  readonly translateGroup?: TranslateGroup
  readonly locales?: readonly string[]
}

/** Collects what is said of groups. */
export class Groups {
  readonly #groups = new Map<string, SettingGroup>()
  /** Who has described each group first. */
  readonly #sources = new Map<string, string>()
  #languages: Languages = {}
  #log: FastifyBaseLogger | undefined

  translateBy({ translateGroup, locales = [] }: Languages, log: FastifyBaseLogger): void {
    this.#log = log
    const known = locales.map((locale) => canonicalLocale(locale) ?? locale)
    this.#languages = { locales: known, ...(translateGroup && { translateGroup }) }
  }

  /**
   * Of two that describe one group the first counts, member by member.
   * @param source a module, or the application
   * @throws {FMOD_CORE_INVALID_OPTION} what no page can show
   */
  add(groups: SettingGroups, source: string, log: FastifyBaseLogger): void {
    refuseOptions(`the groups of ${source}`, optionProblems(Type.Object({ groups: groupSchema }), { groups }))
    for (const [name, group] of Object.entries(groups)) {
      const first = this.#sources.get(name)
      if (first !== undefined)
        log.warn({ group: name, first, second: source }, 'two describe a group of settings: the first counts')
      else this.#sources.set(name, source)
      this.#groups.set(name, { ...group, ...this.#groups.get(name) })
    }
  }

  /**
   * @param accepted as `Accept-Language` says it; without a language that has texts, as it was declared
   * @param named the groups that definitions name
   */
  in(accepted: string | undefined, named: Iterable<string>): SettingGroups {
    const { locales = [] } = this.#languages
    const names = new Set([...this.#groups.keys(), ...named])
    for (const locale of acceptedLocales(accepted)) {
      if (locale === 'en') break
      const translated = locales.includes(locale) ? this.#translate(locale, names) : undefined
      if (translated) return translated
    }
    return Object.fromEntries(this.#groups)
  }

  /** Undefined for a language without texts. */
  #translate(locale: string, names: Iterable<string>): SettingGroups | undefined {
    const { translateGroup } = this.#languages
    const translated = new Map<string, SettingGroup>()
    try {
      for (const name of names) {
        const group = this.#groups.get(name) ?? {}
        const texts = translateGroup?.(name, group, locale)
        if (texts) translated.set(name, withTexts(group, texts))
      }
    } catch (err) {
      this.#log?.warn({ err, locale }, 'settings option translateGroup failed; English is shown')
      this.#log = undefined // once
      return undefined
    }
    return translated.size === 0 ? undefined : Object.fromEntries([...this.#groups, ...translated])
  }
}

function withTexts(group: SettingGroup, { displayName, description, action }: GroupTexts): SettingGroup {
  return {
    ...group,
    ...(displayName && { displayName }),
    ...(description && { description }),
    ...(group.action && action && { action: { ...group.action, label: action } }),
  }
}
