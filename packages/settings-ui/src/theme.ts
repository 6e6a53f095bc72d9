/** Colours and shape of the pages: the `--fm-*` properties that hosts may set. */
import { option, type OptionsSchema, Type } from '@fastify-modular/core/internal'

/** The properties that are API. */
const themeTokens = [
  'bg',
  'surface',
  'raised',
  'fg',
  'muted',
  'line',
  'field',
  'accent',
  'on-accent',
  'good',
  'warn',
  'bad',
  'radius',
  'font',
  'mono',
  'gap',
] as const
export type ThemeToken = (typeof themeTokens)[number]

export interface ThemeOptions {
  /** @default 'auto': what the user's system says, until the user chooses */
  readonly scheme?: 'auto' | 'light' | 'dark'
  /** CSS values by token; `light-dark(…, …)` gives one for each scheme. */
  readonly tokens?: Partial<Record<ThemeToken, string>>
}

const token = option.that(
  (value) => typeof value === 'string' && !/[;{}]/.test(value),
  'one CSS value', // more would end the declaration
)

/** For the options of which the theme is one. */
export const themeSchema: OptionsSchema<ThemeOptions> = Type.Object(
  {
    scheme: option.oneOf('auto', 'light', 'dark'),
    tokens: Type.Object(Object.fromEntries(themeTokens.map((name) => [name, token])), {
      description: 'an object with CSS values by token',
    }),
  },
  { description: 'an object with scheme and tokens' },
)

/** The tokens and the host's own rules as CSS; empty where nothing is set. */
export function themeCss({ tokens = {} }: ThemeOptions = {}, css = ''): string {
  const declarations = Object.entries(tokens).map(([name, value]) => `--fm-${name}:${value}`)
  return (declarations.length > 0 ? `:root{${declarations.join(';')}}` : '') + css
}
