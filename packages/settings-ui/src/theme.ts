/** Colours and shape of the pages: the `--fm-*` properties that hosts may set. */
import { FMOD_SETTINGS_UI_INVALID_OPTION } from './misuse-errors.ts'

/** The properties that are API. */
const themeTokens = [
  'bg',
  'surface',
  'fg',
  'muted',
  'line',
  'accent',
  'on-accent',
  'bad',
  'radius',
  'font',
] as const
export type ThemeToken = (typeof themeTokens)[number]

export interface ThemeOptions {
  /** @default 'auto': what the user's system says, until the user chooses */
  readonly scheme?: 'auto' | 'light' | 'dark'
  /** CSS values by token; `light-dark(…, …)` gives one for each scheme. */
  readonly tokens?: Partial<Record<ThemeToken, string>>
}

const names: readonly string[] = themeTokens

/** @throws {FMOD_SETTINGS_UI_INVALID_OPTION} an unknown scheme or token, a value that would end the declaration */
export function checkTheme({ scheme = 'auto', tokens = {} }: ThemeOptions = {}): void {
  if (!['auto', 'light', 'dark'].includes(scheme)) {
    throw new FMOD_SETTINGS_UI_INVALID_OPTION('theme.scheme', 'it is none of auto, light, dark')
  }
  for (const [name, value] of Object.entries(tokens)) {
    const problem = !names.includes(name)
      ? `there is no token of this name, but ${names.join(', ')}`
      : typeof value !== 'string' || /[;{}]/.test(value)
        ? 'it is no single CSS value'
        : undefined
    if (problem) throw new FMOD_SETTINGS_UI_INVALID_OPTION(`theme.tokens.${name}`, problem)
  }
}

/** The tokens and the host's own rules as CSS; empty where nothing is set. */
export function themeCss({ tokens = {} }: ThemeOptions = {}, css = ''): string {
  const declarations = Object.entries(tokens).map(([name, value]) => `--fm-${name}:${value}`)
  return (declarations.length > 0 ? `:root{${declarations.join(';')}}` : '') + css
}
