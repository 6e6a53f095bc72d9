/** What `app.register(settingsUi, options)` takes. */
import type { Caller } from '@fastify-modular/core'
import {
  type AccessOfPlugin,
  option,
  optionProblems,
  type OptionsSchema,
  refuseOptions,
  type TSchema,
  Type,
} from '@fastify-modular/core/internal'
import type { FindCaller, SettingDefinitions } from '@fastify-modular/settings'
import { SettingScope } from '@fastify-modular/settings/client'
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { groupIcon, groupIcons } from './group-icons.ts'
import { plainSlots, type Preview, slotOf } from './preview.ts'
import { type Messages, textsOf } from './texts/texts.ts'
import { contrastProblems, type ThemeOptions, themeSchema } from './theme.ts'

/** A value, or a function that returns it for each request. */
export type OfRequest<T> = T | ((request: FastifyRequest) => T | Promise<T>)

/** Whether a page is there, or for whom. */
export type Visibility = boolean | ((caller: Caller | null) => boolean | Promise<boolean>)

/** A link of the host in the header of the pages. */
export interface PageLink {
  readonly label: string
  /** A path of this origin, or an absolute http or https URL. */
  readonly href: string
}

/** A page, for a layout of the host's. All of it is HTML, and may stand in an attribute, as it is; no script or style is inline. */
export interface PageContent {
  /** For the window's title. */
  readonly title: string
  /** For `<head>`: the style sheet, the script and what they need. */
  readonly head: string
  /** For `<body>`: the element that the script fills. */
  readonly body: string
  /** For `<html lang>`. */
  readonly locale: string
  /** For `<html dir>`. */
  readonly direction: 'ltr' | 'rtl'
  /** For `<html data-theme>`. */
  readonly scheme: 'auto' | 'light' | 'dark'
  /** The Content-Security-Policy that the page needs, to be extended. */
  readonly policy: string
}

/** Options of the settings pages; all may be left out behind the gate of public-routes. */
export interface SettingsUiOptions {
  /** Where the pages are: `<prefix>/manage`, `<prefix>/preferences` and `<prefix>/tenant`. @default '/settings' */
  readonly prefix?: string
  /** Where the HTTP API of settings is. @default '/api/settings' */
  readonly baseUrl?: string
  /** Protects the pages where there is no gate: a hook, or false when something in front does it. */
  readonly guard?: onRequestHookHandler | false
  /**
   * Who may call the pages, beside signing in: a permission, `{ allOf }` or `{ anyOf }`; assets stay public. Needs the gate
   * of public-routes. @default 'signed-in'
   */
  readonly access?: AccessOfPlugin
  /** Returns the caller of a request: decides what the pages offer, never what the API allows. @default `request.caller` of the gate */
  readonly findCaller?: FindCaller
  /** As given to the settings plugin. @default false */
  readonly selfService?: boolean
  /**
   * The administration. Callers for whom a function returns false get 403 and no link to it.
   * @default true, with a link for callers who may change something
   */
  readonly manage?: Visibility
  /** The preferences. @default true */
  readonly preferences?: Visibility
  /**
   * The settings of the caller's organisation, where the settings plugin has its option `tenants`: for callers who may write
   * them there, and of those for whom a function returns true.
   * @default true
   */
  readonly tenant?: Visibility
  /**
   * Whether to serve the documents of the pages. Without them their addresses are the host's, for documents with an
   * `<fm-settings>`: scripts, styles and what the element asks for stay, for those whom `manage`, `preferences` and `tenant` let in.
   * @default true
   */
  readonly documents?: boolean
  /** The application's name, in the header and in the window's title. @default 'Settings' */
  readonly title?: OfRequest<string>
  /** The path of an image on the same origin, or a data: URL. */
  readonly logo?: OfRequest<string | undefined>
  /** A message below the header of the pages. */
  readonly banner?: OfRequest<string | undefined>
  /**
   * Settings that show in the page itself while they are entered, before they are saved, to their author alone: by key, the part
   * of the page. In a layout of your own, mark the parts with `data-fm-preview="title"`, and leave an empty element with the
   * id `fm-preview` in the header, for the toggle.
   */
  readonly preview?: Preview
  /** Links of the application in the header. */
  readonly links?: OfRequest<readonly PageLink[]>
  /** Colours and shape. @default both light and dark, as the user's system says */
  readonly theme?: OfRequest<ThemeOptions>
  /** Style rules of your own, after those of the pages; served as part of their style sheet. */
  readonly css?: string
  /**
   * A BCP 47 tag, for texts, dates, numbers and plurals, and for what definitions say (their option `translate`).
   * @default the language that the browser prefers, of those that there are texts for; else 'en'
   */
  readonly locale?: OfRequest<string | undefined>
  /** Texts that differ from those of the language. */
  readonly messages?: OfRequest<Partial<Messages>>
  /** Where the name in the header leads: a path. @default '/' */
  readonly home?: string
  /** A path that ends the session when it receives a POST; without it there is no sign-out button. */
  readonly logout?: string
  /** The Content-Security-Policy of the pages; false leaves it to the host. @default strict, with Trusted Types */
  readonly csp?: string | false
  /**
   * Returns the HTML document of a page, for hosts that put the pages into a layout of their own. The policy is the
   * host's then: `content.policy` says what the pages need.
   */
  readonly layout?: (request: FastifyRequest, content: PageContent) => string | Promise<string>
}

/** Another origin would be refused by the pages' policy, long after boot. */
const path = Type.String({
  pattern: String.raw`^/(?![/\\])[^\\?#\s]*$`,
  description: 'a path of this origin, such as "/settings"',
})

const link = Type.Object({
  label: Type.String(),
  href: Type.String({ pattern: String.raw`^(?:/(?![/\\])|https?://)[^\\\s]*$` }),
})

/** Each text is of the kind that the English one is. */
const plural = Type.Intersect([
  Type.Object({ other: Type.String() }),
  Type.Record(Type.String(), Type.String()),
])
const texts = Object.entries(textsOf('en')).map(([name, text]) => [
  name,
  typeof text === 'string' ? Type.String() : plural,
])

const images = Type.Record(Type.String(), Type.String({ pattern: String.raw`^(?:/(?![/\\])|data:image/)` }))
const target = Type.Union([
  option.oneOf(...plainSlots),
  Type.Object({ slot: Type.Literal('logo'), values: images }, { additionalProperties: false }),
])

/** The options that may be functions of the request, as values. */
export const lookSchema: OptionsSchema<
  Pick<SettingsUiOptions, 'title' | 'logo' | 'banner' | 'links' | 'theme' | 'locale' | 'messages'>
> = Type.Object({
  title: option.string(),
  logo: option.string('a path of this origin or a data: URL'),
  banner: option.string(),
  links: Type.Array(link, {
    description: 'an array of { label, href }, each href a path or an http or https URL',
  }),
  theme: themeSchema,
  locale: option.that(isLocale, 'a language tag, such as "en" or "pt-BR"'),
  // Not an object schema: names that a page does not know are no mistake, for texts are shared.
  messages: Type.Intersect([Type.Partial(Type.Object(Object.fromEntries(texts)))], {
    description: 'an object with texts, those of numbers by plural category',
  }),
})

const { title, logo, banner, links, theme, locale, messages } = lookSchema.properties

const schema: OptionsSchema<SettingsUiOptions> = Type.Object({
  prefix: Type.String({
    pattern: String.raw`^(?:/[^/\\?#\s]+)+$`,
    description: 'a path of this origin without a slash at its end, such as "/settings"',
  }),
  baseUrl: path,
  guard: Type.Union([Type.Literal(false), option.function()], { description: 'an onRequest hook or false' }),
  access: option.access(),
  findCaller: option.function('a function of the request'),
  selfService: option.boolean(),
  manage: orFunction(Type.Boolean({ description: 'a boolean' }), 'caller'),
  preferences: orFunction(Type.Boolean({ description: 'a boolean' }), 'caller'),
  tenant: orFunction(Type.Boolean({ description: 'a boolean' }), 'caller'),
  documents: option.boolean(),
  title: orFunction(title),
  logo: orFunction(logo),
  banner: orFunction(banner),
  preview: Type.Record(Type.String(), target, {
    description: `an object with keys of settings and what each shows: ${plainSlots.join(', ')} or { slot: "logo", values }, each value the path of an image of this origin or a data: URL`,
  }),
  links: orFunction(links),
  theme: orFunction(theme),
  css: option.string('CSS'),
  locale: orFunction(locale),
  messages: orFunction(messages),
  home: path,
  logout: path,
  csp: Type.Union([Type.String(), Type.Literal(false)], {
    description: 'a Content-Security-Policy or false',
  }),
  layout: option.function('a function of the request and the content'),
})

function orFunction(value: TSchema, argument = 'request'): TSchema {
  const description = `${value.description}, or a function of the ${argument} that returns it`
  const { fits } = value
  return typeof fits === 'function'
    ? option.that((each) => typeof each === 'function' || fits(each) === true, description)
    : Type.Union([value, option.function()], { description })
}

/** @throws {FMOD_CORE_INVALID_OPTION} with all that is wrong with the options */
export function refuse(problems: readonly string[]): void {
  refuseOptions('the settings-ui plugin', problems)
}

/** @throws {FMOD_CORE_INVALID_OPTION} with all options that cannot be used */
export function checkOptions(options: SettingsUiOptions): void {
  const { theme: colors } = options
  const problems = optionProblems(schema, options)
  if (problems.length === 0 && typeof colors === 'object') problems.push(...contrastProblems(colors))
  if (problems.length === 0) problems.push(...sharedSlots(options.preview ?? {}))
  refuse(problems)
}

/** Parts of the page that more than one setting would show. */
function sharedSlots(preview: Preview): string[] {
  const slots = Object.values(preview).map(slotOf)
  const repeated = new Set(slots.filter((slot, index) => slots.indexOf(slot) < index))
  return [...repeated].map((slot) => `preview must have ${slot} once`)
}

/**
 * A preview shows what a setting makes of the page, to those who change it.
 * @throws {FMOD_CORE_INVALID_OPTION} with all settings that cannot be previewed
 */
export function checkPreview(preview: Preview, definitions: SettingDefinitions): void {
  const problems = Object.keys(preview).flatMap((key) => {
    const definition = definitions.getDefinition(key)
    if (definition === null) return `preview.${key} must be the key of a setting`
    if (definition.sensitive) return `preview.${key} must not be sensitive`
    return definition.scope === SettingScope.System ? `preview.${key} must not be a System setting` : []
  })
  refuse(problems)
}

function isLocale(value: unknown): boolean {
  try {
    return typeof value === 'string' && Intl.getCanonicalLocales(value).length === 1
  } catch {
    return false
  }
}

/** @throws {FMOD_CORE_INVALID_OPTION} a group has an icon that there is not */
export function checkIcons(definitions: SettingDefinitions): void {
  const problems = Object.entries(definitions.getGroups()).flatMap(([name, { icon }]) =>
    icon === undefined || groupIcon(icon) !== undefined
      ? []
      : `the icon "${icon}" of the group "${name}" must be one of ${groupIcons.join(', ')}`,
  )
  refuse(problems)
}
