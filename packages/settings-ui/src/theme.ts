/** Colours and shape of the pages: the `--fm-*` properties that hosts may set. */
import { option, type OptionsSchema, Type } from '@fastify-modular/core/internal'
import { luminance } from './accent.ts'

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
type Tokens = Partial<Record<ThemeToken, string>>

export interface ThemeOptions {
  /** @default 'auto': what the user's system says, until the user chooses */
  readonly scheme?: 'auto' | 'light' | 'dark'
  /** CSS values by token; `light-dark(…, …)` gives one for each scheme. */
  readonly tokens?: Tokens
  /**
   * The key of the User setting that chooses the scheme, with the values `light` and `dark`; all others mean the system.
   * The preferences page follows it as it changes, and the header offers no choice of its own.
   */
  readonly setting?: string
}

function isToken(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 200 && !/[;{}<]/.test(value)
}

const token = option.that(isToken, 'one CSS value') // more would end the declaration

/** For the options of which the theme is one. */
export const themeSchema: OptionsSchema<ThemeOptions> = Type.Object(
  {
    scheme: option.oneOf('auto', 'light', 'dark'),
    tokens: Type.Object(Object.fromEntries(themeTokens.map((name) => [name, token])), {
      description: 'an object with CSS values by token',
    }),
    setting: option.string('the key of a setting'),
  },
  { description: 'an object with scheme, tokens and setting' },
)

/** Tokens as CSS; names that are none, and values that are empty or would be more than one, are left out. */
export function themeCss(tokens: Readonly<Record<string, unknown>>): string {
  const declarations = themeTokens.flatMap((name) => {
    const value = tokens[name]
    return isToken(value) && value.trim() !== '' ? `--fm-${name}:${value}` : []
  })
  return declarations.length > 0 ? `:root,:host{${declarations.join(';')}}` : ''
}

/** Contrast that text needs (WCAG 1.4.3). */
const enough = 4.5

/** The schemes in which text in the accent, or on it, is hard to read. Colours other than hexadecimal ones are not checked. */
export function contrastProblems({ tokens = {} }: ThemeOptions): string[] {
  const {
    accent,
    surface = 'light-dark(#fff, #15171c)',
    'on-accent': on = 'light-dark(#fff, #0c1330)',
  } = tokens
  if (!accent) return []
  if (/^light-dark\(\s*,|,\s*\)$/.test(accent))
    return [`theme.tokens.accent (${accent}) must have a colour for each scheme`]
  return (['light', 'dark'] as const).flatMap((scheme, index) => {
    const [ink, paper, text] = [accent, surface, on].map((value) => luminanceOf(value, index))
    return [
      [paper, `surface (${surface})`],
      [text, `on-accent (${on})`],
    ].flatMap(([other, name]) => {
      if (typeof ink !== 'number' || typeof other !== 'number') return []
      const ratio = (Math.max(ink, other) + 0.05) / (Math.min(ink, other) + 0.05)
      return ratio >= enough
        ? []
        : `theme.tokens.accent (${accent}) must have a contrast of ${enough} with ${name} in the ${scheme} scheme, and has ${ratio.toFixed(1)}: give each scheme its shade with light-dark(…, …)`
    })
  })
}

const hex = '#(?:[0-9a-f]{3}|[0-9a-f]{6})'
const colors = new RegExp(`^(?:(${hex})|light-dark\\(\\s*(${hex})\\s*,\\s*(${hex})\\s*\\))$`, 'i')

/** The relative luminance of a hexadecimal colour, or of that of one scheme; undefined for other values. */
function luminanceOf(value: string, scheme: number): number | undefined {
  const [, both, ...each] = colors.exec(value.trim()) ?? []
  const color = both ?? each[scheme]
  return color === undefined
    ? undefined
    : luminance(color.length === 4 ? color.replaceAll(/\w/g, '$&$&') : color)
}
