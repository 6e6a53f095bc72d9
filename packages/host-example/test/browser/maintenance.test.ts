/** Maintenance mode, as administrators and everybody else see it. */
import { testBrowser } from '@fastify-modular/test-support/browser'
import { shows } from '@fastify-modular/test-support/shows'
import { until } from '@fastify-modular/test-support/until'
import { test } from 'tap'
import { violationsOf } from '../axe.js'
import { type Person, startHost } from '../host.js'

test('maintenance mode in a browser', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)
  const admin = await host.signIn('admin')
  const page = await browser.newPage()
  const banner = page.getByText('Maintenance mode is on')

  async function visitAs(person: Person | null, path: string): Promise<number | undefined> {
    await page.context().clearCookies()
    await person?.enter(page.context())
    return (await page.goto(host.url + path))?.status()
  }
  const setMode = (value: boolean) =>
    admin.ask('/api/settings', {
      method: 'PUT',
      body: { key: 'system.maintenance_mode', scope: 0, value },
    })

  await t.test('while it is off, no page speaks of it', async (t) => {
    await visitAs(admin, '/notes')
    await page.getByRole('heading', { level: 1 }).waitFor()
    t.equal(await banner.count(), 0)
  })

  const alice = await host.signIn('alice')
  const bob = await host.signIn('bob')
  await setMode(true)

  for (const path of ['/', '/notes', '/settings/manage', '/settings/preferences', '/api/docs']) {
    await t.test(`an administrator is reminded of it on ${path}, and led to the switch`, async (t) => {
      t.equal(await visitAs(admin, path), 200)
      await banner.waitFor()
      t.same(await violationsOf(page), [])
    })
  }

  await t.test('the banner leads to the switch', async (t) => {
    await visitAs(admin, '/')
    await page.getByRole('link', { name: 'Turn it off' }).click()
    await page.locator('[data-key="system.maintenance_mode"] input:focus').waitFor()
    t.equal(new URL(page.url()).pathname, '/settings/manage')
  })

  for (const colorScheme of ['light', 'dark'] as const) {
    await t.test(`who was signed in gets a page that says so, with a way out: ${colorScheme}`, async (t) => {
      await page.emulateMedia({ colorScheme })
      t.equal(await visitAs(alice, '/notes'), 503)
      await page.getByRole('heading', { level: 1, name: 'Back in a moment' }).waitFor()
      await shows(t, () => page.getByText('closed for maintenance').isVisible(), true)
      t.same(await violationsOf(page), [])
      await page.getByRole('link', { name: 'Home', exact: true }).click()
      await page.waitForURL(`${host.url}/`)
      await page.getByRole('heading', { name: 'Recent notes' }).waitFor()
    })
  }

  await t.test('a page that waits looks every half minute, and asks for nothing else twice', async (t) => {
    await page.goto('about:blank') // what the page before asks for does not count
    await page.clock.install()
    const asked: string[] = []
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/notes') asked.push(request.method())
    })
    const isClientThere = page.waitForRequest('**/api/settings')
    await visitAs(alice, '/notes')
    await page.getByRole('heading', { level: 1, name: 'Back in a moment' }).waitFor()
    await isClientThere
    await page.clock.runFor(151_000)
    await until(() => asked.length >= 6)
    t.same(asked, ['GET', ...Array.from({ length: 5 }, () => 'HEAD')])
    await page.clock.resume()
  })

  await t.test(
    'strangers still see what is public, and read there that only administrators get in',
    async (t) => {
      for (const path of ['/', '/login']) {
        t.equal(await visitAs(null, path), 200)
        await banner.waitFor()
        t.equal(await page.getByRole('link', { name: 'Turn it off' }).count(), 0, path)
        t.same(await violationsOf(page), [])
      }
      t.equal(await visitAs(null, '/health/live'), 200)
    },
  )

  await t.test('members who sign in get a page that says so, and administrators get in', async (t) => {
    await visitAs(null, '/login')
    await page.getByRole('button', { name: 'Alice' }).click()
    await page.getByRole('heading', { level: 1, name: 'Back in a moment' }).waitFor()
    t.same(await page.context().cookies(), [])
    await visitAs(null, '/login')
    await page.getByRole('button', { name: 'Ada' }).click()
    await page.getByRole('heading', { name: 'Quick settings' }).waitFor()
    t.pass()
  })

  await t.test('switched off, it is over at the next click', async (t) => {
    await visitAs(bob, '/')
    await setMode(false)
    await page.getByRole('link', { name: 'All notes' }).click()
    await page.getByRole('heading', { level: 1, name: 'Notes' }).waitFor()
    t.pass()
  })
})
