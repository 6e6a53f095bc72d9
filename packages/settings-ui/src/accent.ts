/** An accent in which people can read: one function for servers and browsers. */

/** Contrast with the paper that text in an accent gets: enough for text on the tints of pills and rows, too (WCAG 1.4.3 wants 4.5). */
const schemes = [
  { paper: '#ffffff', ink: 0, enough: 5.2 },
  { paper: '#15171c', ink: 255, enough: 7 },
] as const

/** A colour as a page shows it. */
export interface AccentShades {
  /** `#rrggbb` for the light scheme. */
  readonly light: string
  /** `#rrggbb` for the dark scheme. */
  readonly dark: string
  /** Both as one CSS value, for the theme token `accent`: `light-dark(#a34a1b, #f2935c)`. */
  readonly token: string
}

/** The nearest shades of a colour, such as `#c8632b`, that are easy to read on the surfaces of the pages, darker or lighter where needed. */
export function accentShades(color: string): AccentShades {
  const [light = color, dark = color] = schemes.map(({ paper, ink, enough }) => {
    const parts = channelsOf(color)
    // Steps of 2 %: the last one is black, or white.
    for (let step = 0; step <= 50; step++) {
      const shade = hexOf(parts.map((part) => part + ((ink - part) * step) / 50))
      if (contrast(luminance(shade), luminance(paper)) >= enough) return shade
    }
    return color
  })
  return { light, dark, token: `light-dark(${light}, ${dark})` }
}

/** The contrast of two relative luminances (WCAG 2.2). */
export function contrast(one: number, other: number): number {
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
}

/** The relative luminance of `#rrggbb`. */
export function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(color).map((channel) => {
    const part = channel / 255
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function channelsOf(color: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
}

function hexOf(channels: readonly number[]): string {
  return `#${channels.map((channel) => Math.round(channel).toString(16).padStart(2, '0')).join('')}`
}
