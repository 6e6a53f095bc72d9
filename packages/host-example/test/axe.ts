/** What axe-core finds on a page. */
import { createRequire } from 'node:module'
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly target: unknown }[]
}

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The violations of all its rules, one line each, once the page has its heading, which an element may bring later. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.locator('h1').first().waitFor()
  await page.evaluate(axe)
  const violations = await page.evaluate<Violation[]>('axe.run().then(({ violations }) => violations)')
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => String(target)).join(' ')}`)
}
