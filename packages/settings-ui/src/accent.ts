/** An accent in which people can read: one function for servers and browsers. */

/** A colour as a page shows it. */
export interface AccentShades {
  /** `#rrggbb` for the light scheme, or `''`. */
  readonly light: string
  /** `#rrggbb` for the dark scheme, or `''`. */
  readonly dark: string
  /** Both as one CSS value, for the theme token `accent`: `light-dark(#a85324, #d9926b)`, or `''`, with which the pages keep theirs. */
  readonly token: string
}

/**
 * The nearest shades of a colour, such as `#c8632b`, that are easy to read on the surfaces of the pages: darker or lighter
 * where needed. They are empty for what is not `#rrggbb`, such as a setting that is cleared.
 */
export function accentShades(color: string | null): AccentShades {
  if (color === null || !/^#[0-9a-f]{6}$/i.test(color)) return { light: '', dark: '', token: '' }
  // A contrast of 5.2 with white and of 7 with the dark surface: enough on the tints of pills and rows, too.
  const light = shadeOf(color, 0, (shade) => luminance(shade) > 0.152)
  const dark = shadeOf(color, 255, (shade) => luminance(shade) < 0.358)
  return { light, dark, token: `light-dark(${light},${dark})` }
}

/** The colour, closer to black (0) or white (255) by steps of 2 % until it is right. */
function shadeOf(color: string, end: number, isWrong: (shade: string) => boolean): string {
  let shade = color
  for (let step = 1; step <= 50 && isWrong(shade); step++) {
    const parts = channelsOf(color).map((part) => Math.round(part + ((end - part) * step) / 50))
    shade = `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`
  }
  return shade
}

/** The relative luminance of `#rrggbb` (WCAG 2.2). */
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
