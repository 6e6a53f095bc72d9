/** The settings pages within the frame of the application. */
import type { Page } from 'playwright-core'
import { type Test, test } from 'tap'
import { testBrowser } from '@fastify-modular/test-support/browser'
import { shows } from '@fastify-modular/test-support/shows'
import { until } from '@fastify-modular/test-support/until'
import { violationsOf } from './axe.js'
import { startHost } from './host.js'

/** Searches for each, after what finds nothing. */
async function findEach(
  t: Test,
  page: Page,
  meant: readonly (readonly [query: string, key: string])[],
): Promise<void> {
  const search = page.getByRole('main').getByRole('searchbox')
  const first = page.locator('main [data-key]').first()
  for (const [query, key] of meant) {
    await search.fill('date format')
    await page.locator('.fm-empty').waitFor()
    await search.fill(query)
    await first.waitFor()
    await shows(t, () => first.getAttribute('data-key'), key, query)
  }
}

test('the settings pages in a browser', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)
  const page = await browser.newPage()
  const complaints: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))

  await (await host.signIn('admin')).enter(browser)

  await t.test('a setting is changed', async (t) => {
    await page.goto(`${host.url}/settings/manage`)
    await page.getByLabel('Title', { exact: true }).fill('Changed')
    await page.getByRole('button', { name: /^Save/ }).click()
    await page.locator('.fm-bar').getByText('1 setting saved').waitFor()
    const admin = await host.signIn('admin')
    t.equal((await admin.ask('/api/settings/app.title?scope=1')).json.value, 'Changed')
  })

  await t.test('the page around the settings follows what is saved, at once', async (t) => {
    await page.goto(host.url)
    await page.getByRole('link', { name: 'Preferences' }).click()
    await page.getByRole('heading', { level: 1, name: 'Preferences' }).waitFor()
    await page.getByRole('radiogroup', { name: 'Theme' }).getByRole('radio', { name: 'Dark' }).check()
    await page.locator('html[data-theme=dark]').waitFor()
    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    await page.getByLabel('Title', { exact: true }).fill('Followed')
    await page.keyboard.press('Control+s')
    await page.getByRole('link', { name: 'Followed' }).waitFor()
    await shows(
      t,
      () => page.getByRole('link', { name: 'Settings', exact: true }).getAttribute('aria-current'),
      'page',
    )
  })

  await t.test('on a phone the settings have the whole width, and the bar that saves too', async (t) => {
    const size = page.viewportSize()
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${host.url}/settings/manage?group=mail`)
    await page.getByLabel('SMTP server', { exact: true }).fill('mail.example.org')
    const bar = page.getByRole('region', { name: 'Unsaved changes' })
    t.equal((await bar.boundingBox())?.width, 390)
    const row = await page.locator('[data-key="mail.host"]').boundingBox()
    t.ok(row && row.width > 390 - 2 * 18, `${row?.width} px`)
    await shows(t, () => page.evaluate('document.documentElement.scrollWidth'), 390)
    await bar.getByRole('button', { name: 'Discard' }).click()
    if (size) await page.setViewportSize(size)
  })

  await t.test('everyday words find the setting that is meant, first', async (t) => {
    const meant = [
      ['dark mode', 'app.theme'],
      ['email server', 'mail.host'],
      ['maintenence', 'system.maintenance_mode'],
      ['logo', 'app.logo'],
      ['color', 'app.primary_color'],
      ['colour', 'app.primary_color'],
      ['timezone', 'app.timezone'],
      ['smtp pasword', 'mail.password'],
      ['night', 'app.theme'],
      ['smtp port', 'mail.port'],
      ['website', 'app.homepage_url'],
      ['announcement', 'app.banner'],
      ['locale', 'app.language'],
      ['go live', 'app.launch_at'],
      ['feature flags', 'app.feature_json'],
      ['spacing', 'user.preferred_density'],
      ['app name', 'app.title'],
      ['downtime', 'system.maintenance_mode'],
      ['help address', 'app.support_email'],
    ] as const
    await page.goto(`${host.url}/settings/manage`)
    await findEach(t, page, meant)
  })

  await t.test('UI-25: the bar hides nothing that has the focus, in this layout neither', async (t) => {
    await page.setViewportSize({ width: 900, height: 500 })
    await page.goto(`${host.url}/settings/manage?only=application`)
    await page.getByLabel('Banner', { exact: true }).fill('Unsaved')
    for (let step = 0; step < 25; step++) {
      await page.keyboard.press('Tab')
      const isHidden = await page.evaluate<boolean>(`(() => {
        const { shadowRoot } = document.querySelector('fm-settings')
        const focused = shadowRoot.activeElement ?? document.activeElement, bar = shadowRoot.querySelector('.fm-bar')
        if (bar.contains(focused) || focused === document.body) return false
        return focused.getBoundingClientRect().bottom > bar.getBoundingClientRect().top + 1
      })()`)
      t.notOk(isHidden, `step ${step}`)
    }
    page.once('dialog', (dialog) => void dialog.accept())
    await page.goto('about:blank')
    await page.setViewportSize({ width: 1280, height: 720 })
  })

  await t.test('a link does not take along what is unsaved without asking', async (t) => {
    await page.goto(`${host.url}/settings/manage?only=application`)
    const title = page.getByLabel('Title', { exact: true })
    const notes = page.getByRole('link', { name: 'Notes', exact: true })
    const question = page.getByRole('dialog', { name: 'Leave this page?' })
    await title.fill('Unsaved')
    await notes.click()
    await question.waitFor()
    t.same(await violationsOf(page), [])
    await question.getByRole('button', { name: 'Stay' }).click()
    await question.waitFor({ state: 'detached' })
    t.equal(await title.inputValue(), 'Unsaved')
    t.equal(new URL(page.url()).pathname, '/settings/manage')
    await page.route('**/notes', (route) => route.abort())
    await notes.click()
    const failed = page.waitForEvent('requestfailed')
    await question.getByRole('button', { name: 'Leave' }).click()
    await failed
    await question.waitFor({ state: 'detached' })
    await page.unroute('**/notes')
    t.equal(await title.inputValue(), 'Unsaved', 'the visit failed')
    await until(() => complaints.length >= 2)
    t.match(complaints.splice(0), [/ERR_FAILED/, /Network error/])
    await notes.click()
    await question.getByRole('button', { name: 'Leave' }).click()
    await page.waitForURL(`${host.url}/notes`)
    await page.getByRole('heading', { level: 1, name: 'Notes' }).waitFor()
  })

  await t.test(
    'preferences are there for every user, the administration for those who may change something',
    async (t) => {
      const alice = await host.signIn('alice')
      t.equal((await alice.ask('/settings/preferences')).status, 200)
      t.match(
        (await alice.ask('/', { headers: { accept: 'text/html' } })).text,
        'href="/settings/preferences"',
      )
      t.notMatch((await alice.ask('/', { headers: { accept: 'text/html' } })).text, 'href="/settings/manage"')
    },
  )

  t.same(complaints, [], 'the browser refused and reported nothing')
})

test('the settings pages in German', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)
  const admin = await host.signIn('admin')
  const own = { key: 'app.language', value: 'de' }
  t.equal((await admin.ask('/api/settings/me', { method: 'PUT', body: own })).status, 204)
  await admin.enter(browser)
  const page = await browser.newPage()

  await t.test('definitions say everything in German', async (t) => {
    const read = async (language: string) =>
      (await admin.ask('/api/settings/definitions', { headers: { 'accept-language': language } })).json as {
        key: string
        options: { value: string; label: string; description: string }[] | null
        keywords: string[]
        [text: string]: unknown
      }[]
    const [english, german] = [await read('en'), await read('de')]
    /** What is the same word in both. */
    const same = ['Logo', 'System', 'Banner', 'English', 'Deutsch', 'https://example.org', 'smtp.example.org']
    for (const [index, { key, options, ...definition }] of english.entries()) {
      const other = german[index]
      for (const field of ['displayName', 'description', 'confirm', 'placeholder']) {
        const text = definition[field]
        if (typeof text !== 'string' || same.includes(text)) continue
        t.not(other?.[field], text, `${key} ${field}`)
      }
      if (key === 'app.timezone') continue // the names of places
      for (const [at, { label, description }] of (options ?? []).entries()) {
        if (!same.includes(label)) t.not(other?.options?.[at]?.label, label, `${key} ${label}`)
        if (description) t.not(other?.options?.[at]?.description, description, `${key} ${description}`)
      }
    }
    const { groups } = (await admin.ask('/settings/manage.json')).json
    t.same(new Set(Object.keys(groups)), new Set(english.map(({ group }) => group)))
    for (const [name, group] of Object.entries<Record<string, string>>(groups)) {
      t.ok(group['icon'] && group['displayName'], name)
      t.notMatch(group['description'], /\b(the|how|what|who)\b/i, name)
    }
    t.match(groups.Mail, {
      displayName: 'E-Mail',
      action: { label: 'Gesendete Post ansehen', href: '../mails' },
    })
    const editor = await host.signIn('editor')
    const theirs = (await editor.ask('/settings/manage.json')).json.groups
    t.notOk(theirs.Mail.action, 'who may not see mail gets no link to it')
    t.notMatch(JSON.stringify(german.map(({ schema }) => schema)), /Search of notes|Public links|Tips on/)
  })

  await t.test('everyday words find the setting that is meant, first', async (t) => {
    const meant = [
      ['dunkelmodus', 'app.theme'],
      ['mailserver', 'mail.host'],
      ['wartungsmdous', 'system.maintenance_mode'],
      ['logo', 'app.logo'],
      ['farbe', 'app.primary_color'],
      ['zeitzone', 'app.timezone'],
      ['smtp paswort', 'mail.password'],
      ['sprache', 'app.language'],
      ['nacht', 'app.theme'],
      ['kennwort', 'mail.password'],
      ['hinweis', 'app.banner'],
      ['homepage', 'app.homepage_url'],
      ['titel', 'app.title'],
      ['eröffnung', 'app.launch_at'],
      ['kompakt', 'user.preferred_density'],
      ['übersetzung', 'app.language'],
      ['uhr', 'app.timezone'],
      ['hilfe', 'app.support_email'],
      ['postausgang', 'mail.host'],
    ] as const
    await page.goto(`${host.url}/settings/manage`)
    await findEach(t, page, meant)
  })

  await t.test('the dashboard names settings and values as the settings pages do', async (t) => {
    for (const body of [
      { key: 'app.logo', scope: 1, value: 'leaf' },
      { key: 'system.maintenance_mode', scope: 0, value: true },
      { key: 'app.launch_at', scope: 1, value: '2026-12-24T18:30:00+00:00' },
    ])
      t.equal((await admin.ask('/api/settings', { method: 'PUT', body })).status, 204)
    await page.goto(host.url)
    const changes = page.getByRole('listitem').filter({ hasText: 'Ada änderte' })
    await changes.first().waitFor()
    const texts = (await changes.allTextContents()).join(' ')
    for (const text of ['Logo', 'Blatt', 'Wartungsmodus', 'Ein', '24.12.2026']) t.match(texts, text)
    t.notMatch(texts, /true|T18:30/)
  })
})
