/** What axe-core finds on a page. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type * as Axe from 'axe-core'
import type { Page } from 'playwright-core'

const axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** The problems that axe-core finds, one line each. */
export async function problems(page: Page): Promise<string[]> {
  await page.evaluate(axeSource)
  return page.evaluate(async (values) => {
    // axe-core puts itself there
    const { axe } = window as unknown as { axe: typeof Axe }
    const { violations } = await axe.run({ runOnly: { type: 'tag', values } })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, any }) => `${id}: ${target.join(' ')} ${any[0]?.message ?? ''}`),
    )
  }, rules)
}
