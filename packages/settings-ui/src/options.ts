/** What `app.register(settingsUi, options)` takes. */
import { option, optionProblems, type OptionsSchema, Type } from '@fastify-modular/core/internal'
import type { FindCaller, OwnWrites } from '@fastify-modular/settings'
import type { onRequestHookHandler } from 'fastify'
import { FMOD_SETTINGS_UI_INVALID_OPTION } from './misuse-errors.ts'
import { defaultMessages, type Messages } from './react/messages.ts'
import { type ThemeOptions, themeSchema } from './theme.ts'

/** Options of the settings pages; all may be left out behind the gate of public-routes. */
export interface SettingsUiOptions {
  /** Where the pages are: `<prefix>/manage` and `<prefix>/me`. @default '/settings' */
  readonly prefix?: string
  /** Where the HTTP API of settings is. @default '/api/settings' */
  readonly apiBase?: string
  /** Protects the pages where there is no gate: a hook, or false when something in front does it. */
  readonly guard?: onRequestHookHandler | false
  /** Returns the caller of a request: decides what the pages offer, never what the API allows. @default `request.caller` of the gate */
  readonly caller?: FindCaller
  /** As given to the settings plugin. @default 'permission' */
  readonly ownWrites?: OwnWrites
  /** The administration. @default true */
  readonly adminPage?: boolean
  /** The preferences. @default true */
  readonly userPage?: boolean
  /** The application's name, in the header and in the window's title. @default 'Settings' */
  readonly title?: string
  /** The path of an image on the same origin, or a data: URL. */
  readonly logo?: string
  /** Colours and shape. @default both light and dark, as the user's system says */
  readonly theme?: ThemeOptions
  /** Style rules of your own, after those of the pages; served as part of their style sheet. */
  readonly css?: string
  /** A BCP 47 tag, for dates, numbers and plurals, and for what definitions say (their option `translate`). @default 'en' */
  readonly locale?: string
  /** Texts that differ from the English ones. */
  readonly messages?: Partial<PageMessages>
  /** Where the name in the header leads: a path. @default '/' */
  readonly home?: string
  /** A path that ends the session when it receives a POST; without it there is no sign-out button. */
  readonly logout?: string
  /** The Content-Security-Policy of the pages; false leaves it to the host. @default strict, with Trusted Types */
  readonly csp?: string | false
}

/** Another origin would be refused by the pages' policy, long after boot. */
const path = option.that(isPath, 'a path of this origin, such as "/settings"')

const schema: OptionsSchema<SettingsUiOptions> = Type.Object({
  prefix: option.that(
    (value) => isPath(value) && !value.endsWith('/'),
    'a path of this origin without a slash at its end, such as "/settings"',
  ),
  apiBase: path,
  guard: Type.Union([Type.Literal(false), option.function()], { description: 'an onRequest hook or false' }),
  caller: option.function('a function of the request'),
  ownWrites: option.oneOf('permission', 'authenticated'),
  adminPage: option.boolean(),
  userPage: option.boolean(),
  title: option.string(),
  logo: option.string('a path of this origin or a data: URL'),
  theme: themeSchema,
  css: option.string('CSS'),
  locale: option.that(isLocale, 'a language tag, such as "en" or "pt-BR"'),
  messages: option.record('an object with texts'),
  home: path,
  logout: path,
  csp: Type.Union([Type.String(), Type.Literal(false)], {
    description: 'a Content-Security-Policy or false',
  }),
})

/** @throws {FMOD_SETTINGS_UI_INVALID_OPTION} with all options that cannot be used */
export function checkOptions(options: SettingsUiOptions): void {
  const problems = optionProblems(schema, options)
  if (problems.length > 0) throw new FMOD_SETTINGS_UI_INVALID_OPTION(problems.join('; '))
}

function isPath(value: unknown): value is string {
  return typeof value === 'string' && /^\/(?![/\\])[^\\?#\s]*$/.test(value)
}

function isLocale(value: unknown): boolean {
  try {
    return typeof value === 'string' && Intl.getCanonicalLocales(value).length === 1
  } catch {
    return false
  }
}

/** All texts that a host may replace: those of the components and those of the documents around them. */
export interface PageMessages extends Messages {
  /** Shown where there is no JavaScript. */
  readonly needsScript: string
  readonly skip: string
  readonly toUserPage: string
  readonly toAdminPage: string
  readonly signOut: string
  readonly account: string
  readonly theme: string
  readonly auto: string
  readonly light: string
  readonly dark: string
}

export const defaultPageMessages: PageMessages = {
  ...defaultMessages,
  needsScript:
    'The settings pages need JavaScript. Without it, the HTTP API under /api/settings offers everything they do.',
  skip: 'Skip to the settings',
  toUserPage: 'Preferences',
  toAdminPage: 'All settings',
  signOut: 'Sign out',
  account: 'Your account',
  theme: 'Theme',
  auto: 'System',
  light: 'Light',
  dark: 'Dark',
}
