/** What the plugin serves, and when it refuses to boot. */
import { settings } from '@fastify-modular/settings'
import settingsUiByDefault, { settingsUi, type SettingsUiOptions } from '@fastify-modular/settings-ui'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { test } from 'tap'
import { loadAssets } from '#src/assets.js'
import { definitions } from './support/definitions.js'
import { createHost } from './support/host.js'

const as = (user: string, headers = {}) => ({
  headers: { cookie: `user=${user}`, accept: 'text/html', ...headers },
})

/** The configuration within a page. */
function configOf(html: string): Record<string, unknown> {
  return JSON.parse(/id="fm-config">(.*?)<\/script>/s.exec(html)?.[1] ?? 'null')
}

test('a page is never stored, strictly limited, and has no value of a setting in it', async (t) => {
  const app = await createHost(t)
  await app.settings.setSetting('app.title', 'Value-of-a-setting', 1)
  const page = await app.inject({ url: '/settings/manage', ...as('ada') })
  t.equal(page.statusCode, 200)
  t.match(page.headers, {
    'cache-control': 'no-store',
    'content-type': 'text/html; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
  })
  const policy = String(page.headers['content-security-policy'])
  for (const part of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "trusted-types 'none'",
  ]) {
    t.ok(policy.includes(part), part)
  }
  t.notMatch(policy, /unsafe|\*|http/)
  t.notOk(page.payload.includes('Value-of-a-setting'))
  t.notMatch(page.payload, /(?:href|src)="\//, 'all addresses are relative')
  t.equal((await app.inject({ method: 'HEAD', url: '/settings/manage', ...as('ada') })).statusCode, 200)
})

test('what the page may offer is what its caller may do', async (t) => {
  const app = await createHost(t)
  const config = async (user: string, page = 'manage') =>
    configOf((await app.inject({ url: `/settings/${page}`, ...as(user) })).payload)
  t.match(await config('ada'), {
    canUpdate: true,
    isAdmin: true,
    apiBase: '../api/settings',
  })
  t.match(await config('eve'), { canUpdate: true, isAdmin: false })
  t.match(await config('vera', 'me'), { canUpdate: true, isAdmin: false })
})

test('anonymous requests are sent to sign in, or get 401', async (t) => {
  const app = await createHost(t)
  const visit = await app.inject({ url: '/settings/me', headers: { accept: 'text/html' } })
  t.equal(visit.statusCode, 302)
  t.equal(visit.headers['location'], '/login?returnTo=%2Fsettings%2Fme')
  t.equal((await app.inject({ url: '/settings/manage' })).statusCode, 401)
})

test('UI-28: assets are public, hashed, immutable, compressed and within the budget', async (t) => {
  const app = await createHost(t)
  const html = (await app.inject({ url: '/settings/manage', ...as('ada') })).payload
  const names = new Set(
    [...html.matchAll(/"\.\/assets\/(app\.[\w-]{12}\.(?:js|css))"/g)].map(([, name]) => name),
  )
  t.equal(names.size, 2)
  for (const name of names) {
    const url = `/settings/assets/${name}`
    const br = await app.inject({ url, headers: { 'accept-encoding': 'gzip, deflate, br' } })
    t.equal(br.statusCode, 200)
    t.match(br.headers, {
      'cache-control': 'public, max-age=31536000, immutable',
      'content-encoding': 'br',
      vary: 'accept-encoding',
      'x-content-type-options': 'nosniff',
    })
    const size = br.rawPayload.length
    t.comment(`${name}: ${size} bytes in brotli`)
    t.ok(size <= (name?.endsWith('.js') ? 32_000 : 7_000), `${name} within the budget`)
    const encodingFor = async (accepted: string) =>
      (await app.inject({ url, headers: { 'accept-encoding': accepted } })).headers['content-encoding']
    t.equal(await encodingFor('br;q=0, gzip'), 'gzip')
    t.equal(await encodingFor('identity'), undefined)
    const etag = String(br.headers['etag'])
    t.equal((await app.inject({ url, headers: { 'if-none-match': etag } })).statusCode, 304)
  }
  t.equal((await app.inject({ url: '/settings/assets/app.js', ...as('ada') })).statusCode, 404)
})

test('the prefix leads to the pages by relative addresses; pages can be left out', async (t) => {
  const app = await createHost(t)
  const from = async (url: string) => (await app.inject({ url, ...as('ada') })).headers['location']
  t.equal(await from('/settings'), './settings/manage')
  t.equal(await from('/settings/'), './manage')
  const other = await createHost(t, { ui: { prefix: '/admin/config', adminPage: false, home: '/start' } })
  t.equal((await other.inject({ url: '/admin/config', ...as('ada') })).headers['location'], './config/me')
  t.equal((await other.inject({ url: '/admin/config/manage', ...as('ada') })).statusCode, 404)
  const html = (await other.inject({ url: '/admin/config/me', ...as('ada') })).payload
  t.match(configOf(html), { apiBase: '../../api/settings' })
  t.match(html, /<a class="fm-brand" href="\.\.\/\.\.\/start">/)
  t.notMatch(html, '>Settings</a>', 'no link to a page that is not there')
})

test('title, logo, theme, rules and texts of the host; hostile ones stay text', async (t) => {
  const app = await createHost(t, {
    ui: {
      title: '</title><script>alert(1)</script>',
      logo: '/static/logo.svg',
      locale: 'ar-EG',
      theme: { scheme: 'dark', tokens: { accent: 'light-dark(#123456, #abcdef)' } },
      css: '.fm-card{border:0}',
      messages: { adminHeading: '</script><b>&\u2028' },
      logout: '/logout',
      csp: "default-src 'self'",
    },
  })
  const page = await app.inject({ url: '/settings/manage', ...as('ada') })
  const html = page.payload
  t.equal(html.match(/<script/g)?.length, 2)
  t.notMatch(html, /<b>/)
  t.match(html, /<html lang="ar-EG" dir="rtl" data-theme="dark">/)
  t.equal(page.headers['content-security-policy'], "default-src 'self'")
  t.match(configOf(html), { messages: { adminHeading: '</script><b>&\u2028' } })
  t.match(html, '<img src="../static/logo.svg" alt="" height="24">')
  t.match(html, '<form method="post" action="../logout">')
  t.match(
    await themeOf(app, html),
    /\.fm-card\{border:0\}:root,:host\{--fm-accent:light-dark\(#123456, #abcdef\)\}$/,
  )
})

/** The style sheet that a page asks for. */
async function themeOf(app: FastifyInstance, html: string): Promise<string> {
  const { pathname, search } = new URL(String(configOf(html)['style']), 'http://x/settings/manage')
  return (await app.inject({ url: pathname + search })).payload
}

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
      messages: ({ caller }) => ({ adminHeading: `Settings for ${caller?.name}` }),
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
  t.match(configOf(ada), { themeSetting: 'user.theme', locale: 'de-AT', scheme: 'dark' })
  t.match(await themeOf(app, ada), /--fm-accent:light-dark\(#b91c1c, #fca5a5\)\}$/)
  const eve = await page('eve')
  t.match(eve, '<html lang="en-GB" dir="ltr">')
  t.match(eve, '<title>Settings for Eve · Notes of Eve</title>')
  t.notMatch(eve, /<img|Status/)
  t.match(configOf(eve), { messages: { adminHeading: 'Settings for Eve' } })
})

test('what a function returns and no page can use is left out and logged: the page is where it is put right', async (t) => {
  const lines: string[] = []
  const app = await boot(
    t,
    {
      caller: () => null,
      guard: false,
      title: () => 7 as unknown as string,
      links: () => [{ label: 'Click', href: 'javascript:alert(1)' }],
      locale: () => 'no_such',
      theme: () => ({ tokens: { accent: '#fafafa', surface: 'light-dark(#fff, #111)' } }),
    },
    true,
    { level: 'warn', stream: { write: (line: string) => void lines.push(line) } },
  )
  const { statusCode, payload } = await app.inject('/settings/me')
  t.equal(statusCode, 200)
  t.match(payload, '<html lang="en"')
  t.notMatch(payload, 'javascript:')
  const css = await themeOf(app, payload)
  t.notMatch(css, '#fafafa')
  t.match(css, '--fm-surface:light-dark(#fff, #111)')
  t.same(lines.flatMap((line) => JSON.parse(line)['option'] ?? []).toSorted(), [
    'links',
    'locale',
    'theme',
    'title',
  ])
})

test('only tokens get from an address into a style sheet', async (t) => {
  const app = await createHost(t)
  const html = (await app.inject({ url: '/settings/manage', ...as('ada') })).payload
  const { pathname } = new URL(String(configOf(html)['style']), 'http://x/settings/manage')
  const plain = (await app.inject(pathname)).payload
  const added = async (query: string) => {
    const { payload, headers } = await app.inject({
      url: `${pathname}?${query}`,
      headers: { 'accept-encoding': 'br' },
    })
    t.equal(headers['content-encoding'], payload === plain ? undefined : 'br')
    return (await app.inject(`${pathname}?${query}`)).payload.slice(plain.length)
  }
  t.equal(await added('accent=%23123456&radius=4px'), ':root,:host{--fm-accent:#123456;--fm-radius:4px}')
  for (const hostile of [
    'accent=red}body{display:none}',
    'accent=a;b:c',
    'accent=%3C/style%3E',
    `accent=${'a'.repeat(201)}`,
    'accent=a&accent=b',
    'colour=red',
    '__proto__=x',
  ])
    t.equal((await app.inject(`${pathname}?${hostile}`)).payload, plain, hostile)
})

test('an accent that is hard to read is a boot error that names scheme and ratio', async (t) => {
  const wrong: readonly (readonly [string, object])[] = [
    ['surface (light-dark(#fff, #15171c)) in the dark scheme, and has 3.0', { accent: '#2f57dd' }],
    ['in the light scheme', { accent: '#fde047', 'on-accent': '#000' }],
    ['on-accent (#fff) in the dark scheme', { accent: 'light-dark(#0b6e4f, #5fd3a8)', 'on-accent': '#fff' }],
  ]
  for (const [message, tokens] of wrong) {
    await t.rejects(boot(t, { caller: () => null, guard: false, theme: { tokens } }), {
      code: 'FMOD_SETTINGS_UI_INVALID_OPTION',
      message,
    })
  }
  for (const accent of ['light-dark(#b91c1c, #fca5a5)', 'LIGHT-DARK(#B00, #faa)', 'oklch(0.5 0.2 20)'])
    await boot(t, { caller: () => null, guard: false, theme: { tokens: { accent } } })
})

test('the administration is linked where something can be changed, or where a function says so', async (t) => {
  const link = /<a href="\.\/manage"/
  const app = await createHost(t)
  const page = (host: FastifyInstance, user: string, url: string) => host.inject({ url, ...as(user) })
  t.match((await page(app, 'eve', '/settings/me')).payload, link)
  t.notMatch((await page(app, 'vera', '/settings/me')).payload, link)
  t.equal((await page(app, 'vera', '/settings/manage')).statusCode, 200, 'who knows the address may look')
  t.equal((await page(app, 'vera', '/settings')).headers['location'], './settings/me')
  const strict = await createHost(t, {
    ui: { adminPage: (caller) => caller?.isAdmin === true, userPage: async (caller) => caller?.id !== 'eve' },
  })
  t.match((await page(strict, 'ada', '/settings/me')).payload, link)
  t.equal((await page(strict, 'ada', '/settings/manage')).statusCode, 200)
  t.notMatch((await page(strict, 'vera', '/settings/me')).payload, link)
  for (const url of ['/settings/manage', '/settings/me']) {
    const refused = await page(strict, 'eve', url)
    t.equal(refused.statusCode, 403, url)
    t.notMatch(refused.payload, 'fm-config')
  }
})

test('a layout of the host: its document, its policy', async (t) => {
  const app = await createHost(t, {
    ui: {
      title: '</title><b>',
      layout: async (request, { title, head, body, locale, direction, scheme, policy }) => {
        await null
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
  t.match(payload, '<main data-path="/settings/manage"><div id="fm-app" class="fm">')
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
      await scope.register(settings, { definitions: [definitions], caller: () => null })
      await scope.register(settingsUi, { caller: () => null, guard: false })
    },
    { prefix: '/tenant' },
  )
  await app.ready()
  const html = (await app.inject('/tenant/settings/manage')).payload
  t.match(configOf(html), { apiBase: '../api/settings' })
  const { pathname } = new URL(String(configOf(html)['style']), 'http://x/tenant/settings/manage')
  t.equal((await app.inject(pathname)).statusCode, 200)
  t.equal((await app.inject('/tenant/settings')).headers['location'], './settings/me')
})

test('csp: false leaves the policy to the host', async (t) => {
  const app = await createHost(t, { ui: { csp: false } })
  const page = await app.inject({ url: '/settings/manage', ...as('ada') })
  t.equal(page.headers['content-security-policy'], undefined)
})

test('an Inertia client is sent to load the page whole (409)', async (t) => {
  const app = await createHost(t)
  const answer = await app.inject({
    url: '/settings/manage?scope=system',
    ...as('ada', { 'x-inertia': 'true' }),
  })
  t.equal(answer.statusCode, 409)
  t.equal(answer.headers['x-inertia-location'], '/settings/manage?scope=system')
})

/** Without a gate; ready, or not. */
async function boot(
  t: { teardown(close: () => unknown): unknown },
  ui: SettingsUiOptions,
  routes = true,
  logger: FastifyServerOptions['logger'] = false,
) {
  const app: FastifyInstance = Fastify({ logger })
  t.teardown(() => app.close())
  app.register(settings, {
    definitions: [definitions],
    caller: () => null,
    ...(!routes && { routes: false }),
  })
  app.register(settingsUiByDefault, ui)
  await app.ready()
  return app
}

test('a boot error without a gate, unless the host says what guards the pages', async (t) => {
  const caller = () => null
  await t.rejects(boot(t, { caller }), { code: 'FMOD_SETTINGS_UI_UNGUARDED' })
  await t.rejects(boot(t, { guard: false }), { code: 'FMOD_SETTINGS_UI_CALLER_UNKNOWN' })
  const open = await boot(t, { caller, guard: false })
  t.equal((await open.inject('/settings/manage')).statusCode, 200)
  const guarded = await boot(t, { caller, guard: (_request, reply, _done) => void reply.code(418).send() })
  for (const path of ['/settings', '/settings/manage', '/settings/me']) {
    t.equal((await guarded.inject(path)).statusCode, 418)
  }
})

test('the button of the account has the initials of the caller', async (t) => {
  const caller = { id: 'x', name: '', permissions: [], isAdmin: false }
  const app = await boot(t, { caller: () => ({ ...caller }), guard: false })
  for (const [name, initials] of [
    ['Ada Lovelace', 'AL'],
    ['ada', 'AD'],
    ['  Äda   von  Ω ', 'ÄV'],
    ['<b>', '&#60;B'],
    ['👩 x', '👩X'],
  ] as const) {
    caller.name = name
    t.match((await app.inject('/settings/me')).payload, `aria-hidden="true">${initials}</span>`, name)
  }
})

test('a boot error where the gate is registered after the pages: no request of theirs could find the caller', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(settings, { definitions: [definitions], caller: () => null })
  await app.register(settingsUi, { guard: false })
  app.decorateRequest('caller', null) // as the gate does
  await t.rejects(async () => app.ready(), { code: 'FMOD_SETTINGS_UI_CALLER_UNKNOWN' })
})

test('the header needs no script, and a hostile name in it stays text', async (t) => {
  const name = '"><script>alert(1)</script>'
  const app = await boot(t, {
    caller: () => ({ id: 'x', name, permissions: ['Settings.Update'], isAdmin: false }),
    guard: false,
    logout: '/logout',
  })
  const html = (await app.inject('/settings/me')).payload
  t.equal(html.match(/<script/g)?.length, 2, 'its own script and its configuration')
  t.match(html, '<span class="fm-user" dir="auto">&#34;&#62;&#60;script&#62;alert(1)')
  t.match(html, '<form method="post" action="../logout"><button>Sign out</button></form>')
  t.match(html, '<a href="./manage" dir="auto">Settings</a>')
  t.notMatch(html, '"userName"', 'what the script does not need is not sent twice')
})

test('a boot error without the API that the pages talk to', async (t) => {
  const options = { caller: () => null, guard: false } as const
  await t.rejects(boot(t, options, false), { code: 'FMOD_SETTINGS_UI_API_MISSING' })
  await t.rejects(boot(t, { ...options, apiBase: '/elsewhere' }), { code: 'FMOD_SETTINGS_UI_API_MISSING' })
})

test('options that cannot be meant are boot errors that name them', async (t) => {
  const wrong: readonly (readonly [string, object])[] = [
    ['prefix', { prefix: 'settings' }],
    ['prefix', { prefix: '/' }],
    ['prefix', { prefix: '/settings/' }],
    ['apiBase', { apiBase: 'https://elsewhere.example/api' }],
    ['home', { home: '//elsewhere.example' }],
    ['logout', { logout: '/\\elsewhere.example' }],
    ['apiBse (did you mean apiBase?)', { apiBse: '/api/settings' }],
    ['theme.schem (did you mean theme.scheme?)', { theme: { schem: 'dark' } }],
    ['locale', { locale: 'no_such' }],
    ['theme.scheme', { theme: { scheme: 'sepia' } }],
    ['theme.tokens.colour', { theme: { tokens: { colour: 'red' } } }],
    ['theme.tokens.accent', { theme: { tokens: { accent: 'red;} body{display:none' } } }],
  ]
  for (const [name, options] of wrong) {
    await t.rejects(
      boot(t, { caller: () => null, guard: false, ...options }),
      { code: 'FMOD_SETTINGS_UI_INVALID_OPTION', message: name },
      name,
    )
  }
})

test('a package that was not built says so', async (t) => {
  const folder = new URL(`file://${t.testdir({ 'app.js': '' })}/`)
  await t.rejects(loadAssets('', folder), { code: 'FMOD_SETTINGS_UI_NOT_BUILT' })
})

test('named and default export are the same plugin', async (t) => {
  t.equal(settingsUi, settingsUiByDefault)
})
