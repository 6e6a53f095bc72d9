/** The budgets: bytes, requests, milliseconds. */
import { SettingScope, type SettingDefinition, SettingType } from '@fastify-modular/settings'
import { test } from 'tap'
import { visit } from '../support/visit.js'

/** Machines differ and are busy: the budgets are printed, and a test fails for what is slower by an order of magnitude. */
const patience = 10

const many = Array.from({ length: 500 }, (_, index): SettingDefinition => {
  const type = Object.values(SettingType)[index % 11] ?? SettingType.Text
  return {
    key: `many.setting_${index}`,
    displayName: `Setting ${index}`,
    description: 'What this setting is about, in a sentence.',
    group: `Group ${Math.floor(index / 25)}`,
    scope: SettingScope.Application,
    type,
    ...(type === SettingType.Select && { allowedValues: ['a', 'b', 'c'] }),
  }
})

test('budgets', { timeout: 90_000 }, async (t) => {
  const visited = await visit(t, { settings: { definitions: many, overrides: {} } })
  if (!visited) return
  const { page, open, url } = visited

  await t.test('UI-28: at most five requests; what does not change is not sent again', async (t) => {
    await open('/settings/manage')
    const answers: [string, number][] = []
    page.on('response', (response) => answers.push([new URL(response.url()).pathname, response.status()]))
    await page.reload()
    await page.locator('[data-key]').first().waitFor()
    t.ok(answers.length <= 5, `${answers.length} requests`)
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Network.enable')
    const statuses: number[] = []
    devtools.on('Network.responseReceivedExtraInfo', ({ statusCode }) => statuses.push(statusCode))
    await page.reload()
    await page.locator('[data-key]').first().waitFor()
    t.equal(statuses.filter((status) => status === 304).length, 2, 'definitions and list')
    await devtools.detach()
    page.removeAllListeners('response')
  })

  await t.test('UI-29: 500 settings are there within a second', async (t) => {
    const times: number[] = []
    for (let run = 0; run < 5; run++) {
      await page.goto('about:blank')
      await page.goto(`${url}/settings/manage`, { waitUntil: 'commit' })
      await page.waitForFunction(() => document.querySelectorAll('[data-key]').length === 500)
      times.push(await page.evaluate(() => performance.now()))
    }
    t.comment(`500 settings visible after ${times.map(Math.round).join(', ')} ms; the budget is 1000`)
    t.ok(fastest(times) < 1000 * patience)
  })

  await t.test('UI-29: a keystroke is a frame within 50 ms, in a field and in the search', async (t) => {
    await page.evaluate(() => {
      const times: number[] = []
      Object.assign(window, { times })
      addEventListener(
        'input',
        ({ timeStamp }) =>
          requestAnimationFrame(() => setTimeout(() => times.push(performance.now() - timeStamp))),
        true,
      )
    })
    for (const selector of ['#fm-many\\.setting_0', '[type=search]']) {
      await page.locator(selector).focus()
      await page.keyboard.type('setting 1', { delay: 60 })
      await page.waitForFunction(() => (window as unknown as { times: number[] }).times.length === 9)
      const times = await page.evaluate(() => (window as unknown as { times: number[] }).times.splice(0))
      t.comment(`${selector}: ${times.map(Math.round).join(', ')} ms; the budget is 50`)
      t.ok(fastest(times) < 50 * patience)
    }
  })
})

/** The fastest run tells what the code costs; the others, what else the machine is doing. */
function fastest(numbers: readonly number[]): number {
  return Math.min(...numbers)
}
