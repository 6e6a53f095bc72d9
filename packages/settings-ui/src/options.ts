/** What `app.register(settingsUi, options)` takes. */
import type { FindCaller, OwnWrites } from '@fastify-modular/settings'
import type { onRequestHookHandler } from 'fastify'
import { FMOD_SETTINGS_UI_INVALID_OPTION } from './misuse-errors.ts'
import type { PageMessages } from './page-messages.ts'
import { checkTheme, type ThemeOptions } from './theme.ts'

/** Options of the settings pages; all may be left out behind the gate of public-routes. */
export interface SettingsUiOptions {
  /** Where the pages are: `<prefix>/manage` and `<prefix>/me`. @default '/settings' */
  readonly prefix?: string
  /** Where the HTTP API of settings is. @default '/api/settings' */
  readonly apiBase?: string
  /** What keeps strangers out where there is no gate: a hook, or false when something in front does it. */
  readonly guard?: onRequestHookHandler | false
  /** Who asks: decides what the pages offer, never what the API allows. @default `request.caller` of the gate */
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

/** @throws {FMOD_SETTINGS_UI_INVALID_OPTION} paths that are none, an unknown locale or theme */
export function checkOptions(options: SettingsUiOptions): void {
  for (const name of ['prefix', 'apiBase', 'home', 'logout'] as const) checkPath(name, options[name])
  if (options.prefix === '/' || options.prefix?.endsWith('/')) {
    throw new FMOD_SETTINGS_UI_INVALID_OPTION('prefix', 'it ends with a slash')
  }
  checkLocale(options.locale)
  checkTheme(options.theme)
}

/** Another origin would be refused by the pages' policy, long after boot. */
function checkPath(name: string, path: unknown): void {
  if (path === undefined || (typeof path === 'string' && /^\/(?![/\\])[^\\?#\s]*$/.test(path))) return
  throw new FMOD_SETTINGS_UI_INVALID_OPTION(name, 'it is no path of this origin, such as "/settings"')
}

function checkLocale(locale: string | undefined): void {
  try {
    Intl.getCanonicalLocales(locale ?? 'en')
  } catch {
    throw new FMOD_SETTINGS_UI_INVALID_OPTION('locale', 'it is no language tag, such as "en" or "pt-BR"')
  }
}
