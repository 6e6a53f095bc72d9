/** Every setting of the application does something that can be seen at once: a setting that is added needs a row here. */
import { testBrowser } from '@fastify-modular/test-support/browser'
import type { Locator, Page } from 'playwright-core'
import { test } from 'tap'
import { startHost } from '../host.js'

interface Effect {
  readonly value: unknown
  /** Where it is seen, by an administrator unless `isPublic`. */
  readonly path: string
  readonly isPublic?: boolean
  /** What is there with the value and was not there before. */
  readonly shows: (page: Page) => Locator
}

const mailLink = 'a[href="mailto:a%3Fbcc%3Devil%2540evil.com%26x%3D@example.org"]'

const effects: Readonly<Record<string, Effect>> = {
  'app.title': {
    value: 'Seen',
    path: '/login',
    isPublic: true,
    shows: (page) => page.getByRole('heading', { name: 'Sign in to Seen' }),
  },
  'app.logo': { value: 'bolt', path: '/notes', shows: (page) => page.locator('.brand path[d^="M13.5 5"]') },
  'app.banner': {
    value: 'We are closed.',
    path: '/notes',
    shows: (page) => page.getByText('We are closed.'),
  },
  'app.primary_color': {
    value: '#b91c1c',
    path: '/notes',
    shows: (page) => page.locator('link[href="/accent/b91c1c.css"]'),
  },
  'app.support_email': {
    value: 'a?bcc=evil%40evil.com&x=@example.org', // an address, and nothing else, for the program that opens the link
    path: '/error/500',
    shows: (page) => page.locator(`body:has(main ${mailLink}):has(footer ${mailLink})`),
  },
  'app.homepage_url': {
    value: 'https://acme.example/about',
    path: '/notes',
    shows: (page) => page.getByRole('link', { name: 'acme.example' }),
  },
  'app.launch_at': {
    value: '2020-12-24T23:30:00Z',
    path: '/',
    isPublic: true,
    shows: (page) => page.getByText('Open since'),
  },
  'app.timezone': {
    value: 'Pacific/Kiritimati',
    path: '/',
    isPublic: true,
    shows: (page) => page.getByText('Friday, December 25, 2020 at 1:30'),
  },
  'app.feature_json': {
    value: { search: false },
    path: '/notes',
    shows: (page) => page.locator('main:has(h1):not(:has([role=search]))'),
  },
  'app.theme': { value: 'dark', path: '/notes', shows: (page) => page.locator('html[data-theme=dark]') },
  'user.preferred_density': {
    value: 'compact',
    path: '/notes',
    shows: (page) => page.locator('html[data-density=compact]'),
  },
  'app.language': {
    value: 'de',
    path: '/notes',
    shows: (page) => page.locator('html[lang=de]').getByRole('heading', { name: 'Notizen' }),
  },
  'mail.host': { value: 'smtp.test', path: '/mails', shows: (page) => page.getByText('smtp.test') },
  'mail.port': { value: 465, path: '/mails', shows: (page) => page.getByText('· TLS ·') },
  'mail.password': {
    value: 'hush',
    path: '/mails',
    shows: (page) => page.getByText('meldet sich mit einem Passwort an'),
  },
  'system.maintenance_mode': {
    value: true,
    path: '/notes',
    shows: (page) => page.getByText('Der Wartungsmodus ist an.'),
  },
}

/** Seen in an answer, or by a mail server, instead of a page; the tests of notes and of mail have them. */
const elsewhere = ['app.api_secret', 'mail.user']

test('F-35: every setting of the application has an effect that is seen at once', async (t) => {
  const browser = await testBrowser(t)
  if (browser === null) return
  const host = await startHost(t)
  const admin = await host.signIn('admin')
  const definitions: { key: string; scope: number }[] = (await admin.ask('/api/settings/definitions')).json
  t.same(definitions.map(({ key }) => key).toSorted(), [...Object.keys(effects), ...elsewhere].toSorted())

  const page = await browser.newPage()
  const complaints: string[] = []
  page.on('pageerror', ({ message }) => complaints.push(message))
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  for (const [key, { value, path, isPublic = false, shows }] of Object.entries(effects)) {
    const scope = definitions.find((definition) => definition.key === key)?.scope
    await page.goto('about:blank') // a page whose session is gone would rightly complain
    await browser.clearCookies()
    if (!isPublic) await admin.enter(browser)
    await page.goto(host.url + path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    t.equal(await shows(page).count(), 0, `${key}: not before`)
    const { status, text } =
      scope === 2
        ? await admin.ask('/api/settings/me', { method: 'PUT', body: { key, value } })
        : await admin.ask('/api/settings', { method: 'PUT', body: { key, scope, value } })
    t.equal(status, 204, text)
    await page.reload()
    await shows(page).first().waitFor({ state: 'attached' })
  }
  t.same(complaints, [])
})
