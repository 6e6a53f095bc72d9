/** What the pages take from their host for one request: title, logo, links, theme, language and texts. */
import { hasOwnDecorator, optionProblems, Type } from '@fastify-modular/core/internal'
import type { SettingGroups } from '@fastify-modular/settings'
import type { FastifyRequest } from 'fastify'
import { languageOf, preferredLocale } from './locale.ts'
import { lookSchema, type OfRequest, type PageLink, type SettingsUiOptions } from './options.ts'
import { type Messages, textsOf } from './texts/texts.ts'
import { contrastProblems, type ThemeOptions } from './theme.ts'

/** The host's options as they are for one request. */
export interface Look {
  readonly title: string
  readonly logo: string | undefined
  readonly banner: string | undefined
  readonly links: readonly PageLink[]
  readonly theme: ThemeOptions
  /** A BCP 47 tag. */
  readonly locale: string
  /** Whether the host has named it; the browser asks for its own anyway. */
  readonly isLocaleNamed: boolean
  /** All texts of the documents, those of the host among them. */
  readonly texts: Messages
  /** Texts of the host alone. */
  readonly messages: Partial<Messages>
  /** What is said of groups, in this language. */
  readonly groups: SettingGroups
}

const leftOut = 'the settings pages leave out what an option returned'

type LookName = keyof typeof lookSchema.properties

/** An option is left out, and logged, if its function throws or returns what no page can use: the page is where a setting is put right. */
export async function lookOf(options: SettingsUiOptions, request: FastifyRequest): Promise<Look> {
  async function read<T>(name: LookName, option: OfRequest<T> | undefined): Promise<T | undefined> {
    if (!isFunction(option)) return option
    try {
      const value = await option(request)
      const [problem] = optionProblems(Type.Pick(lookSchema, [name]), { [name]: value })
      if (problem === undefined) return value
      request.log.warn({ option: name, problem }, leftOut)
    } catch (err) {
      request.log.error({ option: name, err }, leftOut)
    }
    return undefined
  }

  const [title = 'Settings', logo, banner, links = [], theme = {}, named, given = {}] = await Promise.all([
    read('title', options.title),
    read('logo', options.logo),
    read('banner', options.banner),
    read('links', options.links),
    read('theme', options.theme),
    read('locale', options.locale),
    read('messages', options.messages),
  ])
  const messages = Object.fromEntries(Object.entries(given).filter(([, text]) => text !== undefined))
  const locale = named ?? preferredLocale(request.headers['accept-language']) ?? 'en'
  return {
    title,
    logo,
    banner,
    links,
    theme: readable(theme, request),
    locale,
    isLocaleNamed: named !== undefined,
    groups: hasOwnDecorator(request.server, 'settings')
      ? request.server.settings.definitions.getGroups(named ?? request.headers['accept-language'])
      : {},
    texts: { ...textsOf(languageOf(locale)), ...messages },
    messages,
  }
}

function isFunction<T>(
  option: OfRequest<T> | undefined,
): option is (request: FastifyRequest) => T | Promise<T> {
  return typeof option === 'function'
}

/** Without an accent in which nobody could read, or that is no colour. */
function readable(theme: ThemeOptions, request: FastifyRequest): ThemeOptions {
  const [problem] = contrastProblems(theme)
  if (problem === undefined) return theme
  request.log.warn({ option: 'theme', problem }, leftOut)
  const { accent: _accent, 'on-accent': _onAccent, ...tokens } = theme.tokens ?? {}
  return { ...theme, tokens }
}
