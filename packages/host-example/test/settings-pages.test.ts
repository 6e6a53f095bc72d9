/** The settings pages in both flavours: prebuilt, and as React components within the application's layout. */
import { test } from 'tap'
import { testBrowser } from '@fastify-modular/test-support/browser'
import { startHost } from './host.js'

test('the settings pages in a browser', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)
  const page = await browser.newPage()
  const complaints: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))

  await t.test('strangers sign in first and come back to the page', async (t) => {
    await page.goto(`${host.url}/settings/manage`)
    t.equal(new URL(page.url()).pathname, '/login')
    await page.getByLabel('User name').fill('admin')
    await page.getByLabel('Password', { exact: true }).fill('demo-admin')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${host.url}/settings/manage`)
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
  })

  for (const path of ['/settings/manage', '/inertia/settings']) {
    await t.test(`a setting is changed at ${path}`, async (t) => {
      const title = `Changed at ${path}`
      await page.goto(host.url + path)
      await page.getByLabel('Title', { exact: true }).fill(title)
      await page.getByRole('button', { name: /^Save/ }).click()
      await page.locator('.fm-bar').getByText('1 setting saved').waitFor()
      const admin = await host.signIn('admin')
      t.equal((await admin.ask('/api/settings/app.title?scope=1')).json.value, title)
    })
  }

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
    t.equal(
      await page.getByRole('link', { name: 'Settings', exact: true }).getAttribute('aria-current'),
      'page',
    )
  })

  await t.test('on a phone the settings have the whole width, and the bar that saves too', async (t) => {
    const size = page.viewportSize()
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${host.url}/inertia/settings?group=mail`)
    await page.getByLabel('SMTP server', { exact: true }).fill('mail.example.org')
    const bar = page.getByRole('region', { name: 'Unsaved changes' })
    t.equal((await bar.boundingBox())?.width, 390)
    const row = await page.locator('[data-key="mail.host"]').boundingBox()
    t.ok(row && row.width > 390 - 2 * 18, `${row?.width} px`)
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
    await bar.getByRole('button', { name: 'Discard' }).click()
    if (size) await page.setViewportSize(size)
  })

  await t.test('everyday words find the setting that is meant, first', async (t) => {
    const meant = [
      ['dark mode', 'app.theme'],
      ['email server', 'mail.host'],
      ['sign up', 'system.registration_enabled'],
      ['maintenence', 'system.maintenance_mode'],
      ['logo', 'app.logo'],
      ['color', 'app.primary_color'],
      ['colour', 'app.primary_color'],
      ['timezone', 'app.timezone'],
      ['smtp pasword', 'mail.password'],
      ['register new users', 'system.registration_enabled'],
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
    for (const [query, key] of meant) {
      await page.goto(`${host.url}/settings/manage?q=${encodeURIComponent(query)}`)
      const first = page.locator('main [data-key]').first()
      await first.waitFor()
      t.equal(await first.getAttribute('data-key'), key, query)
    }
    await page.goto(`${host.url}/settings/manage?q=date%20format`)
    await page.locator('.fm-empty').waitFor()
  })

  await t.test('UI-25: the bar hides nothing that has the focus, in this layout neither', async (t) => {
    await page.setViewportSize({ width: 900, height: 500 })
    await page.goto(`${host.url}/inertia/settings?scope=application`)
    await page.getByLabel('Banner', { exact: true }).fill('Unsaved')
    for (let step = 0; step < 25; step++) {
      await page.keyboard.press('Tab')
      const isHidden = await page.evaluate<boolean>(`(() => {
        const focused = document.activeElement, bar = document.querySelector('.fm-bar')
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
    await page.goto(`${host.url}/inertia/settings?scope=application`)
    await page.getByLabel('Title', { exact: true }).fill('Unsaved')
    page.once('dialog', (dialog) => void dialog.dismiss())
    await page.getByRole('link', { name: 'Notes', exact: true }).click()
    t.equal(await page.getByLabel('Title', { exact: true }).inputValue(), 'Unsaved')
    t.equal(new URL(page.url()).pathname, '/inertia/settings')
    page.once('dialog', (dialog) => void dialog.accept())
    await page.getByRole('link', { name: 'Notes', exact: true }).click()
    await page.waitForURL(`${host.url}/notes`)
  })

  await t.test('preferences are there for every user', async (t) => {
    const alice = await host.signIn('alice')
    t.equal((await alice.ask('/settings/preferences')).status, 200)
    t.match((await alice.ask('/inertia/preferences')).text, /"component":"Settings\/Me"/)
  })

  t.same(complaints, [], 'the browser refused and reported nothing')
})
