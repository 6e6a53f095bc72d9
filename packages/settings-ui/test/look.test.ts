/** What the pages take from their host for each request, and for whom they are there. */
import { settings } from '@fastify-modular/settings'
import { accentShades, settingsUi } from '@fastify-modular/settings-ui'
import Fastify, { type FastifyInstance } from 'fastify'
import { test } from 'tap'
import { definitions } from './support/definitions.js'
import { createHost } from './support/host.js'
import { as, boot, configOf, themeOf } from './support/pages.js'

test('title, logo, links, theme, language and texts may differ from request to request', async (t) => {
  const app = await createHost(t, {
    ui: {
      title: async ({ caller }) => `Notes of ${caller?.name}`,
      logo: ({ caller }) => (caller?.isAdmin ? '/logo.svg' : undefined),
      links: ({ caller }) => [
        { label: 'Notes & more', href: '/notes?of=<me>' },
        ...(caller?.isAdmin ? [{ label: 'Status', href: 'https://status.example.com/' }] : []),
      ],
      theme: ({ caller }) => ({
        scheme: caller?.isAdmin ? 'dark' : 'auto',
        tokens: { accent: caller?.isAdmin ? 'light-dark(#b91c1c, #fca5a5)' : '#2f57dd' },
        setting: 'user.theme',
      }),
      locale: ({ caller }) => (caller?.isAdmin ? 'de-AT' : 'en-GB'),
      messages: ({ caller }) => ({ manage: `Settings for ${caller?.name}` }),
    },
  })
  const page = async (user: string) => (await app.inject({ url: '/settings/manage', ...as(user) })).payload
  const ada = await page('ada')
  t.match(ada, '<html lang="de-AT" dir="ltr" data-theme="dark">')
  t.match(ada, '<title>Settings for Ada · Notes of Ada</title>')
  t.match(ada, '<img src="../logo.svg"')
  t.match(ada, '<a href="../notes?of=&#60;me&#62;" dir="auto">Notes &#38; more</a>')
  t.match(ada, '<a href="https://status.example.com/" dir="auto">Status</a>')
  t.notMatch(ada, 'id="fm-scheme"', 'the setting chooses the scheme')
  t.match(configOf(ada), { locale: 'de-AT', scheme: 'dark' })
  t.match(await themeOf(app, ada), /--fm-accent:light-dark\(#b91c1c, #fca5a5\)\}$/)
  const preferences = (await app.inject({ url: '/settings/preferences', ...as('ada') })).payload
  t.match(configOf(preferences), { themeSetting: 'user.theme' }, 'around the preferences alone it follows')
  const eve = await page('eve')
  t.match(eve, '<html lang="en-GB" dir="ltr" data-theme="auto">')
  t.match(eve, '<title>Settings for Eve · Notes of Eve</title>')
  t.notMatch(eve, /<img|Status/)
  t.match(configOf(eve), { messages: { manage: 'Settings for Eve' } })
})

test('a group with an icon that there is not stops the boot', async (t) => {
  const groups = { Mail: { icon: 'pigeon' } }
  await t.rejects(createHost(t, { settings: { groups } }), {
    code: 'FMOD_CORE_INVALID_OPTION',
    message: /the icon "pigeon" of the group "Mail" must be one of brush, /,
  })
})

test('what a function returns and no page can use is left out and logged: the page is where it is put right', async (t) => {
  const lines: string[] = []
  const app = await boot(
    t,
    {
      findCaller: () => null,
      guard: false,
      title: () => 7 as unknown as string,
      logo: () => {
        throw new Error('the table of logos is locked')
      },
      links: () => [{ label: 'Click', href: 'javascript:alert(1)' }],
      locale: () => 'no_such',
      theme: () => ({ tokens: { accent: '#fafafa', surface: 'light-dark(#fff, #111)' } }),
      messages: () => ({ skip: null }) as object,
    },
    true,
    { level: 'warn', stream: { write: (line: string) => void lines.push(line) } },
  )
  const { statusCode, payload } = await app.inject('/settings/preferences')
  t.equal(statusCode, 200)
  t.match(payload, '<html lang="en"')
  t.notMatch(payload, /javascript:|<img/)
  const css = await themeOf(app, payload)
  t.notMatch(css, '#fafafa')
  t.match(css, '--fm-surface:light-dark(#fff, #111)')
  t.same(
    new Set(lines.flatMap((line) => JSON.parse(line)['option'] ?? [])),
    new Set(['links', 'locale', 'logo', 'messages', 'theme', 'title']),
  )
})

test('what is no colour leaves the pages their accent', async (t) => {
  const lines: string[] = []
  const rows: readonly (readonly [color: string | null, accent: string])[] = [
    ['#C8632B', '--fm-accent:light-dark(#a85324,#d9926b)'],
    ['#000000', '--fm-accent:light-dark(#000000,'],
    ['', ''],
    [null, ''],
    ['red', ''],
    ['#abc', ''],
    ['#12345g', ''],
    ['#c8632b80', ''],
  ]
  let accent = ''
  const app = await boot(
    t,
    { findCaller: () => null, guard: false, theme: () => ({ tokens: { accent, radius: '4px' } }) },
    true,
    { level: 'warn', stream: { write: (line: string) => void lines.push(line) } },
  )
  const css = async () => themeOf(app, (await app.inject('/settings/preferences')).payload)
  for (const [color, expected] of rows) {
    accent = accentShades(color).token
    t.match(await css(), `{${expected}`, String(color))
    t.equal((await css()).includes('--fm-accent'), expected !== '', String(color))
  }
  const warnings = () => lines.splice(0).filter((line) => line.includes('"option":"theme"'))
  t.same(warnings(), [], 'a colour that is cleared is no problem')
  for (accent of ['light-dark(,)', 'light-dark( , #fff)', 'light-dark(#123456,)', ' ']) {
    t.match(await css(), /^[^]*\{--fm-radius:4px\}$/, accent)
    t.equal(warnings().length > 0, accent !== ' ', 'logged')
  }
})

test('a text that is undefined is that of the language', async (t) => {
  const app = await createHost(t, { ui: { messages: () => ({ manage: undefined }) as object } })
  const { statusCode, payload } = await app.inject({ url: '/settings/manage', ...as('ada') })
  t.equal(statusCode, 200)
  t.match(payload, '<title>Settings · Test host</title>')
})

test('the look of a host is a small sheet of its own, into which only tokens get, and which nothing compresses', async (t) => {
  const app = await createHost(t, { ui: { css: '.fm-card{border:0}' } })
  const sheet = async (query: string) => {
    const headers = { 'accept-encoding': 'br' }
    const answer = await app.inject({ url: `/settings/assets/theme.css?${query}`, headers })
    t.equal(answer.headers['content-encoding'], undefined, query)
    t.match(answer.headers, { 'content-type': /^text\/css/, 'cache-control': /immutable/ })
    return answer.payload.replace('.fm-card{border:0}', '')
  }
  t.equal(await sheet('accent=%23123456&radius=4px'), ':root,:host{--fm-accent:#123456;--fm-radius:4px}')
  for (const hostile of [
    'accent=red}body{display:none}',
    'accent=a;b:c',
    'accent=%3C/style%3E',
    `accent=${'a'.repeat(201)}`,
    'accent=a&accent=b',
    'colour=red',
    '__proto__=x',
  ])
    t.equal(await sheet(hostile), '', hostile)
  const plain = await createHost(t)
  const html = (await plain.inject({ url: '/settings/manage', ...as('ada') })).payload
  t.equal(html.match(/rel="stylesheet"/g)?.length, 1, 'a host without a look has one sheet')
})

test('an accent that is hard to read is a boot error that names scheme and ratio', async (t) => {
  const wrong: readonly (readonly [string, object])[] = [
    ['surface (light-dark(#fff, #15171c)) in the dark scheme, and has 3.0', { accent: '#2f57dd' }],
    ['in the light scheme', { accent: '#fde047', 'on-accent': '#000' }],
    ['on-accent (#fff) in the dark scheme', { accent: 'light-dark(#0b6e4f, #5fd3a8)', 'on-accent': '#fff' }],
  ]
  for (const [message, tokens] of wrong) {
    await t.rejects(boot(t, { findCaller: () => null, guard: false, theme: { tokens } }), {
      code: 'FMOD_CORE_INVALID_OPTION',
      message,
    })
  }
  for (const accent of ['light-dark(#b91c1c, #fca5a5)', 'LIGHT-DARK(#B00, #faa)', 'oklch(0.5 0.2 20)'])
    await boot(t, { findCaller: () => null, guard: false, theme: { tokens: { accent } } })
})

test('the administration is linked where something can be changed, or where a function says so', async (t) => {
  const link = /<a href="\.\/manage"/
  const app = await createHost(t)
  const page = (host: FastifyInstance, user: string, url: string) => host.inject({ url, ...as(user) })
  t.match((await page(app, 'eve', '/settings/preferences')).payload, link)
  t.notMatch((await page(app, 'vera', '/settings/preferences')).payload, link)
  t.equal((await page(app, 'vera', '/settings/manage')).statusCode, 200, 'who knows the address may look')
  t.equal((await page(app, 'vera', '/settings')).headers['location'], './settings/preferences')
  const strict = await createHost(t, {
    ui: { manage: (caller) => caller?.isAdmin === true, preferences: async (caller) => caller?.id !== 'eve' },
  })
  t.match((await page(strict, 'ada', '/settings/preferences')).payload, link)
  t.equal((await page(strict, 'ada', '/settings/manage')).statusCode, 200)
  t.notMatch((await page(strict, 'vera', '/settings/preferences')).payload, link)
  for (const url of ['/settings/manage', '/settings/preferences']) {
    const refused = await page(strict, 'eve', url)
    t.equal(refused.statusCode, 403, url)
    t.notMatch(refused.payload, 'fm-config')
  }
})

test('a layout of the host: its document, its policy', async (t) => {
  const app = await createHost(t, {
    ui: {
      title: '</title><b>',
      layout: (request, { title, head, body, locale, direction, scheme, policy }) => {
        t.match(policy, "default-src 'none'")
        return `<!doctype html><html lang="${locale}" dir="${direction}" data-theme="${scheme}"><title>${title}</title>${head}<main data-path="${request.url}">${body}</main></html>`
      },
    },
  })
  const { payload, headers } = await app.inject({ url: '/settings/manage', ...as('ada') })
  t.match(
    payload,
    /^<!doctype html><html lang="en" dir="ltr" data-theme="auto"><title>Settings · &#60;\/title&#62;&#60;b&#62;<\/title>/,
  )
  t.match(
    payload,
    '<main data-path="/settings/manage"><fm-settings id="fm-app" class="fm" page="manage" address>',
  )
  t.equal(payload.match(/<script/g)?.length, 2)
  t.notMatch(payload, /fm-top|<style|style="/, 'no header of ours, nothing inline')
  t.equal(headers['content-security-policy'], undefined)
  t.equal(headers['cache-control'], 'no-store')
})

test('an application under a prefix of its own finds its settings and its assets', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.register(
    async (scope) => {
      await scope.register(settings, { definitions: [definitions], findCaller: () => null })
      await scope.register(settingsUi, { findCaller: () => null, guard: false })
    },
    { prefix: '/tenant' },
  )
  await app.ready()
  const html = (await app.inject('/tenant/settings/manage')).payload
  t.match(configOf(html), { baseUrl: '../api/settings' })
  const { pathname } = new URL(
    String((configOf(html)['styles'] as string[])[0]),
    'http://x/tenant/settings/manage',
  )
  t.equal((await app.inject(pathname)).statusCode, 200)
  t.equal((await app.inject('/tenant/settings')).headers['location'], './settings/preferences')
})

test('an action of a group that needs a permission is offered to who has it', async (t) => {
  const action = { label: 'Outbox', href: '/outbox', permission: 'Settings.Update' }
  const groups = { Mail: { icon: 'mail', action }, Contact: { action: { label: 'Help', href: '/help' } } }
  const app = await createHost(t, { settings: { definitions: [definitions], groups } })
  const actions = async (user: string) => {
    const { payload } = await app.inject({ url: '/settings/manage', ...as(user) })
    return Object.values(configOf(payload)['groups'] as Record<string, { action?: unknown }>).map(
      ({ action }) => action,
    )
  }
  const [outbox, help] = [
    { label: 'Outbox', href: '../outbox' },
    { label: 'Help', href: '../help' },
  ]
  for (const user of ['ada', 'eve']) t.same(await actions(user), [outbox, help], user)
  t.same(await actions('vera'), [undefined, help])
})
