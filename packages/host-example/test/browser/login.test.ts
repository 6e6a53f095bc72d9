/** Signing in, as people and their browsers do it. */
import { testBrowser } from '@fastify-modular/test-support/browser'
import { shows } from '@fastify-modular/test-support/shows'
import { test } from 'tap'
import { violationsOf } from '../axe.js'
import { startHost } from '../host.js'

test('UI-36: signing in gives nothing away and leads nowhere else', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)
  const page = await browser.newPage()
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))

  async function submit(name: string, password: string): Promise<void> {
    await page.getByLabel('User name').fill(name)
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  }

  await t.test('a wrong password and an unknown name read alike, and are heard', async (t) => {
    const texts: (string | null)[] = []
    for (const name of ['alice', 'mallory']) {
      await page.goto(`${host.url}/login`)
      await submit(name, 'wrong')
      const alert = page.getByRole('alert')
      await alert.waitFor()
      texts.push(await alert.textContent())
      await shows(t, () => page.getByLabel('User name').inputValue(), name)
      t.equal(
        await page.getByLabel('Password', { exact: true }).inputValue(),
        '',
        'a password never comes back',
      )
      await page.locator('[name=password]:focus').waitFor() // given when the page is drawn
      t.same(await violationsOf(page), [])
    }
    t.equal(texts[0], texts[1])
  })

  for (const target of [
    '//evil.test',
    '/\\evil.test',
    'https://evil.test/',
    '/%09/evil.test',
    'javascript:alert(1)',
  ]) {
    await t.test(`returnTo=${target} stays here`, async (t) => {
      await browser.clearCookies()
      await page.goto(`${host.url}/login?returnTo=${encodeURIComponent(target)}`)
      await submit('alice', 'demo-alice')
      await page.getByRole('button', { name: 'Alice, your account' }).waitFor()
      t.equal(new URL(page.url()).origin, host.url)
      t.same(
        requests.filter((url) => !url.startsWith(host.url)),
        [],
      )
    })
  }

  await t.test('a path of this application is where one ends', async (t) => {
    await browser.clearCookies()
    await page.goto(`${host.url}/login?returnTo=${encodeURIComponent('/notes?from=mail')}`)
    await submit('alice', 'demo-alice')
    await page.waitForURL(`${host.url}/notes?from=mail`)
    t.pass()
  })
})
