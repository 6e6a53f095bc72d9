/** Where and how a browser draws elements, and a finger that touches them. */
import type { Locator } from 'playwright-core'

/** Its place in the window; not a number where it is not shown. */
export async function boxOf(locator: Locator) {
  return (await locator.boundingBox()) ?? { x: NaN, y: NaN, width: NaN, height: NaN }
}

/** Touches the middle of a part with a finger. */
export async function tap(part: Locator): Promise<void> {
  const page = part.page()
  const box = await part.boundingBox()
  if (!box) throw new Error('There is nothing to touch.')
  const devtools = await page.context().newCDPSession(page)
  const touchPoints = [{ x: box.x + box.width / 2, y: box.y + box.height / 2 }]
  await devtools.send('Emulation.setTouchEmulationEnabled', { enabled: true })
  await devtools.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints })
  await devtools.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
  await devtools.detach()
}

/** How the browser draws it, or a part of it. */
export function looks(locator: Locator, pseudo?: string) {
  return locator.evaluate((element, part) => {
    const { backgroundColor, borderTopStyle, color, cursor, fontStyle } = getComputedStyle(element, part)
    return { background: backgroundColor, border: borderTopStyle, color, cursor, style: fontStyle }
  }, pseudo)
}

/** The contrast of two opaque colours (WCAG 2.2). */
export function contrastOf(...colors: readonly [string, string]): number {
  const [darker = NaN, lighter = NaN] = colors
    .map((color) => {
      const [red = NaN, green = NaN, blue = NaN] = (color.match(/[\d.]+/g) ?? []).map((part) => {
        const value = Number(part) / 255
        return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    })
    .toSorted((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}
