/** The budgets: requests, and the work of the script. Milliseconds depend on the machine and are printed only. */
import type { ServerResponse } from 'node:http'
import { SettingScope, type SettingDefinition, SettingType } from '@fastify-modular/settings'
import type { Page } from 'playwright-core'
import { test } from 'tap'
import { visit } from '../support/visit.js'

/** Calls of functions that the script may make for one setting. They do not depend on how busy the machine is. */
const callsToShow = 1000
const callsAfterKey = 100

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

test('budgets', async (t) => {
  const visited = await visit(t, { settings: { definitions: many, overrides: {} } })
  if (!visited) return
  const { page, app, open, reload, url } = visited

  await t.test('UI-28: at most five requests; what does not change is not sent again', async (t) => {
    await open('/settings/manage')
    const answers: ServerResponse[] = []
    app.server.on('request', (_request, response) => answers.push(response))
    await reload()
    t.ok(answers.length <= 5, `${answers.length} requests`)
    answers.length = 0
    await reload()
    t.equal(answers.filter(({ statusCode }) => statusCode === 304).length, 2, 'definitions and list')
  })

  const takeCalls = await countCalls(page)

  await t.test('UI-29: showing 500 settings is some work for each, not for each pair', async (t) => {
    await page.goto('about:blank')
    await takeCalls()
    await page.goto(`${url}/settings/manage`, { waitUntil: 'commit' })
    await page.waitForFunction(() => document.querySelectorAll('[data-key]').length === 500)
    const time = await page.evaluate(() => performance.now())
    const calls = (await takeCalls()) / many.length
    t.comment(`shown after ${Math.round(time)} ms; the budget is 1000`)
    t.ok(calls > 1 && calls < callsToShow, `${calls} calls for each setting`)
  })

  await t.test('UI-29: a key, in a field or in the search, does not render all rows again', async (t) => {
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
      await takeCalls()
      await page.keyboard.type('setting 1')
      await page.waitForFunction(() => (window as unknown as { times: number[] }).times.length === 9)
      const times = await page.evaluate(() => (window as unknown as { times: number[] }).times.splice(0))
      const calls = (await takeCalls()) / times.length / many.length
      t.comment(`${selector}: ${times.map(Math.round).join(', ')} ms; the budget is 50`)
      t.ok(calls > 1 && calls < callsAfterKey, `${selector}: ${calls} calls for each setting`)
    }
  })
})

/** Counts the calls of the page's own functions; each result is what was added since the one before. */
async function countCalls(page: Page): Promise<() => Promise<number>> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Profiler.enable')
  await devtools.send('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  return async () => {
    const { result } = await devtools.send('Profiler.takePreciseCoverage')
    const functions = result
      .filter((script) => script.url.includes('/assets/'))
      .flatMap((script) => script.functions)
    return functions.reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0)
  }
}
