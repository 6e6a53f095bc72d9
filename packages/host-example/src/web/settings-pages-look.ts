/** The prebuilt settings pages wear the look of the application: its title, logo, links, colour, theme and language. */
import type { SettingsUiOptions } from '@fastify-modular/settings-ui'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { userSettings } from '../app-settings.ts'
import { textsOf } from '../texts/texts.ts'
import { logoOf, logoTile } from './drawings.ts'
import { createSharedProps, type SharedProps } from './shared-props.ts'
import { navigation } from './site-header.ts'

type LookOptions = Required<Pick<SettingsUiOptions, 'title' | 'logo' | 'links' | 'theme' | 'locale'>>

/** The options of settings-ui that follow the settings and the caller. */
export function settingsPagesLook(app: FastifyInstance): LookOptions {
  const shared = createSharedProps(app)
  const fromShared =
    <T>(choose: (props: SharedProps) => T) =>
    async (request: FastifyRequest): Promise<T> =>
      choose(await shared(request))
  return {
    title: fromShared((props) => props.app.title),
    logo: fromShared((props) => logoImage(props.app.logo, props.app.primaryColor)),
    links: fromShared(({ app: { language }, user }) =>
      navigation(textsOf(language), user)
        .filter(([href]) => href !== '/inertia/settings') // these pages link to each other
        .map(([href, label]) => ({ href, label })),
    ),
    theme: fromShared(({ app: { theme, primaryColor, density } }) => ({
      scheme: theme === 'light' || theme === 'dark' ? theme : 'auto',
      setting: userSettings.theme.key,
      tokens: {
        accent: `light-dark(${toneOf(primaryColor, 'light')}, ${toneOf(primaryColor, 'dark')})`,
        ...gaps[density],
      },
    })),
    locale: fromShared((props) => props.app.language),
  }
}

/** As in `pages/tokens.css`. */
const gaps: Readonly<Record<string, { readonly gap: string }>> = {
  compact: { gap: '0.7rem' },
  spacious: { gap: '1.35rem' },
}

/** Whatever colour an administrator picks, text in it and on it stays readable. */
function toneOf(color: string, scheme: 'light' | 'dark'): string {
  return scheme === 'light'
    ? `oklch(from ${color} min(l, 0.53) c h)`
    : `oklch(from ${color} max(l, 0.76) min(c, 0.13) h)`
}

/** The logo as an address of its own, in the shades of both schemes. */
function logoImage(name: string, color: string): string {
  const strokes = logoOf(name).map(([look, d]) => `<path class="${look}" d="${d}"/>`)
  const shades = (tone: string, ink: string): string =>
    `.tile{fill:${tone}}.ink{fill:${ink}}.fold{fill:color-mix(in oklab,${ink} 55%,${tone})}.line{stroke:${ink}}.vein{stroke:${tone}}`
  const style = `${shades(toneOf(color, 'light'), '#fff')}.line,.vein{fill:none;stroke-width:2}@media (prefers-color-scheme:dark){${shades(toneOf(color, 'dark'), '#0c1330')}}`
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><style>${style}</style><path class="tile" d="${logoTile}"/>${strokes.join('')}</svg>`
  return `data:image/svg+xml,${encodeURIComponent(svg)}`
}
