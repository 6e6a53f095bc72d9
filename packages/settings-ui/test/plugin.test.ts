/** What the plugin serves, and when it refuses to boot. */
import { readdir, stat } from 'node:fs/promises'
import { publicRoutes } from '@fastify-modular/public-routes'
import { settings } from '@fastify-modular/settings'
import settingsUiByDefault, { settingsUi, type SettingsUiOptions } from '@fastify-modular/settings-ui'
import Fastify, { type FastifyRequest } from 'fastify'
import { test } from 'tap'
import { findAssets } from '#src/assets.js'
import { definitions } from './support/definitions.js'
import { createHost } from './support/host.js'
import { as, boot, configOf, themeOf } from './support/pages.js'

test('a page is never stored, strictly limited, and has no value of a setting in it', async (t) => {
  const app = await createHost(t)
  await app.settings.contract.setSetting('app.title', 'Value-of-a-setting', 1)
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
    baseUrl: '../api/settings',
  })
  t.match(await config('eve'), { canUpdate: true, isAdmin: false })
  t.match(await config('vera', 'preferences'), { canUpdate: true, isAdmin: false })
})

test('anonymous requests are sent to sign in, or get 401', async (t) => {
  const app = await createHost(t)
  const visit = await app.inject({ url: '/settings/preferences', headers: { accept: 'text/html' } })
  t.equal(visit.statusCode, 302)
  t.equal(visit.headers['location'], '/login?returnTo=%2Fsettings%2Fpreferences')
  t.equal((await app.inject({ url: '/settings/manage' })).statusCode, 401)
})

test('UI-28: assets are public, hashed, immutable, compressed and within the budget', async (t) => {
  const app = await createHost(t)
  const html = (await app.inject({ url: '/settings/manage', ...as('ada') })).payload
  const names = new Set(
    [...html.matchAll(/"\.\/assets\/(app\.[\w-]{12}\.(?:js|css))"/g)].map(([, name]) => name),
  )
  t.equal(names.size, 2)
  const script = await app.inject(`/settings/assets/${[...names].find((name) => name?.endsWith('.js'))}`)
  const more = /more\.[\w-]{12}\.js/.exec(script.payload)?.[0]
  t.type(more, 'string', 'what the script loads when it is wanted')
  for (const name of [...names, more]) {
    const url = `/settings/assets/${name}`
    const br = await app.inject({ url, headers: { 'accept-encoding': 'gzip, deflate, br' } })
    t.equal(br.statusCode, 200)
    t.match(br.headers, {
      'cache-control': 'public, max-age=31536000, immutable',
      'content-encoding': 'br',
      vary: /accept-encoding/i,
      'x-content-type-options': 'nosniff',
    })
    const size = br.rawPayload.length
    t.comment(`${name}: ${size} bytes in brotli`)
    t.ok(size <= (name?.endsWith('.js') ? 32_000 : 7_400), `${name} within the budget`)
    const encodingFor = async (accepted: string) =>
      (await app.inject({ url, headers: { 'accept-encoding': accepted } })).headers['content-encoding']
    t.equal(await encodingFor('br;q=0, gzip'), 'gzip')
    t.equal(await encodingFor('identity'), undefined)
    const etag = String(br.headers['etag'])
    const revalidated = { 'if-none-match': etag, 'accept-encoding': 'br' }
    t.equal((await app.inject({ url, headers: revalidated })).statusCode, 304)
    t.not((await app.inject(url)).headers['etag'], etag, 'each encoding has a tag of its own')
  }
  const folder = new URL('../dist/public/', import.meta.url)
  const scripts = (await readdir(folder)).filter((name) => name.endsWith('.js.br'))
  const sizeOf = async (isWanted: (name: string) => boolean) => {
    const sizes = scripts.filter(isWanted).map(async (name) => (await stat(new URL(name, folder))).size)
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size)
  }
  const isLater = (name: string) => name.startsWith('later.')
  t.ok((await sizeOf(isLater)) <= 10_500, 'what comes after the first row within the budget')
  const isPalette = (name: string) => name.startsWith('palette')
  t.ok((await sizeOf(isPalette)) <= 15_000, 'the palette within the budget')
  const isTenant = (name: string) => name.startsWith('tenant-page.')
  t.ok((await sizeOf(isTenant)) <= 1500, 'the page of an organisation within the budget')
  const isOther = (name: string) => !isLater(name) && !isPalette(name) && !isTenant(name)
  t.ok((await sizeOf(isOther)) <= 44_000, 'all other scripts within the budget')
  t.equal((await app.inject({ url: '/settings/assets/app.js', ...as('ada') })).statusCode, 404)
})

test('what else an answer varies by stays: assets behind a plugin for CORS', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.addHook('onRequest', async (_request, reply) => void reply.header('vary', 'Origin'))
  await app.register(settings, { definitions: [definitions], findCaller: () => null })
  await app.register(settingsUi, { guard: false, findCaller: () => null })
  const { headers } = await app.inject('/settings/assets/element.js')
  t.match(headers['vary'], /Origin, accept-encoding/i)
})

test('`<fm-settings>`: what it shows is guarded as its page is, and never stored', async (t) => {
  const app = await createHost(t)
  await app.settings.contract.setSetting('app.title', 'Value-of-a-setting', 1)
  for (const page of ['manage', 'preferences']) {
    const url = `/settings/${page}.json`
    const { payload, headers } = await app.inject({ url, ...as('ada') })
    t.match(headers, { 'cache-control': 'no-store', 'content-type': /^application\/json/ })
    t.same(
      JSON.parse(payload),
      configOf((await app.inject({ url: `/settings/${page}`, ...as('ada') })).payload),
    )
    t.notMatch(payload, 'Value-of-a-setting')
    t.equal((await app.inject({ url, headers: { accept: 'application/json' } })).statusCode, 401)
  }
  const strict = await createHost(t, {
    ui: { manage: (caller) => caller?.isAdmin === true, preferences: false },
  })
  t.equal((await strict.inject({ url: '/settings/manage.json', ...as('eve') })).statusCode, 403)
  t.equal((await strict.inject({ url: '/settings/preferences.json', ...as('ada') })).statusCode, 404)
})

test("without documents their addresses are the host's; what an element needs is there, for the same callers", async (t) => {
  const app = await createHost(t, {
    ui: { documents: false, manage: (caller) => caller?.isAdmin === true, preferences: false },
    modules: [
      {
        name: 'own-pages',
        plugin: async (pages) => {
          for (const url of ['/settings', '/settings/manage'])
            pages.get(url, async () => 'a page of the host')
        },
      },
    ],
  })
  const answers: readonly (readonly [url: string, user: string, status: number])[] = [
    ['/settings', 'ada', 200],
    ['/settings/manage', 'eve', 200],
    ['/settings/manage.json', 'ada', 200],
    ['/settings/manage.json', 'eve', 403],
    ['/settings/preferences', 'ada', 404],
    ['/settings/preferences.json', 'ada', 404],
    ['/settings/assets/element.js', 'nobody', 200],
  ]
  for (const [url, user, status] of answers)
    t.equal((await app.inject({ url, ...as(user) })).statusCode, status, `${url} for ${user}`)
  t.equal((await app.inject({ url: '/settings/manage', ...as('eve') })).payload, 'a page of the host')
})

test('`<fm-settings>`: its script has one address, at which browsers ask for what is new', async (t) => {
  const app = await createHost(t)
  const url = '/settings/assets/element.js'
  const { payload, headers } = await app.inject({ url, headers: { 'accept-encoding': 'br' } })
  t.match(headers, { 'cache-control': 'no-cache', 'content-encoding': 'br' })
  const etag = String(headers['etag'])
  const revalidated = { 'if-none-match': etag, 'accept-encoding': 'br' }
  t.equal((await app.inject({ url, headers: revalidated })).statusCode, 304)
  t.equal(payload, (await app.inject({ url, headers: { 'accept-encoding': 'br' } })).payload)
  const { payload: script } = await app.inject(url)
  const names = [...script.matchAll(/^export \* from '\.\/(app\.[\w-]{12}\.js)'$/gm)].map(([, name]) => name)
  t.equal(names.length, 1, 'that of the pages')
  for (const name of names) {
    const asset = await app.inject({ url: `/settings/assets/${name}`, headers: { 'accept-encoding': 'br' } })
    t.match(asset.headers, { 'cache-control': /immutable/ })
    t.comment(`${name}: ${asset.rawPayload.length} bytes in brotli`)
  }
})

test('the prefix leads to the pages by relative addresses; pages can be left out', async (t) => {
  const app = await createHost(t)
  const from = async (url: string) => (await app.inject({ url, ...as('ada') })).headers['location']
  t.equal(await from('/settings'), './settings/manage')
  t.equal(await from('/settings/'), './manage')
  const other = await createHost(t, { ui: { prefix: '/admin/config', manage: false, home: '/start' } })
  t.equal(
    (await other.inject({ url: '/admin/config', ...as('ada') })).headers['location'],
    './config/preferences',
  )
  t.equal((await other.inject({ url: '/admin/config/manage', ...as('ada') })).statusCode, 404)
  const html = (await other.inject({ url: '/admin/config/preferences', ...as('ada') })).payload
  t.match(configOf(html), { baseUrl: '../../api/settings' })
  t.match(html, /<a class="fm-brand fm-line" href="\.\.\/\.\.\/start">/)
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
      messages: { manage: '</script><b>&\u2028' },
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
  t.match(configOf(html), { messages: { manage: '</script><b>&\u2028' } })
  t.match(html, '<img src="../static/logo.svg" alt="" height="24" data-fm-preview="logo">')
  t.match(html, '<form method="post" action="../logout">')
  t.match(
    await themeOf(app, html),
    /\.fm-card\{border:0\}:root,:host\{--fm-accent:light-dark\(#123456, #abcdef\)\}$/,
  )
})

test('csp: false leaves the policy to the host', async (t) => {
  const app = await createHost(t, { ui: { csp: false } })
  const page = await app.inject({ url: '/settings/manage', ...as('ada') })
  t.equal(page.headers['content-security-policy'], undefined)
})

test('an Inertia client is sent to load the page whole (409)', async (t) => {
  const app = await createHost(t)
  const answer = await app.inject({
    url: '/settings/manage?only=system',
    ...as('ada', { 'x-inertia': 'true' }),
  })
  t.equal(answer.statusCode, 409)
  t.equal(answer.headers['x-inertia-location'], '/settings/manage?only=system')
})

test('a boot error without a gate, unless the host says what guards the pages', async (t) => {
  const caller = () => null
  await t.rejects(boot(t, { findCaller: caller }), { code: 'FMOD_SETTINGS_UI_UNGUARDED' })
  await t.rejects(boot(t, { guard: false }), { code: 'FMOD_SETTINGS_UI_CALLER_UNKNOWN' })
  const open = await boot(t, { findCaller: caller, guard: false })
  t.equal((await open.inject('/settings/manage')).statusCode, 200)
  const guarded = await boot(t, {
    findCaller: caller,
    guard: (_request, reply, _done) => void reply.code(418).send(),
  })
  for (const path of ['', '/manage', '/preferences', '/manage.json', '/preferences.json'].map(
    (each) => `/settings${each}`,
  )) {
    t.equal((await guarded.inject(path)).statusCode, 418)
  }
})

test("behind a gate with `undeclared: 'refuse'` the pages need a known caller, and what their option asks", async (t) => {
  const caller = { id: 'ada', isAdmin: true }
  const bootWith = async (options: object, ofPages: SettingsUiOptions = {}) => {
    const app = Fastify()
    t.teardown(() => app.close())
    const provider = { authenticate: ({ headers }: FastifyRequest) => (headers['x-ada'] ? caller : null) }
    await app.register(publicRoutes, { provider, undeclared: 'refuse', ...options })
    await app.register(settings, { definitions: [definitions] })
    await app.register(settingsUi, ofPages)
    await app.ready()
    return app
  }
  const app = await bootWith({})
  for (const path of ['/settings/manage', '/settings/preferences']) {
    t.equal((await app.inject(path)).statusCode, 401, path)
    t.equal((await app.inject({ url: path, headers: { 'x-ada': '1' } })).statusCode, 200, path)
  }
  const strict = await bootWith({ permissions: { 'Ops.Read': 'Operate' } }, { access: 'Ops.Read' })
  const rows = strict.access.table().filter(({ url }) => url.startsWith('/settings'))
  t.same([...new Set(rows.map(({ access, url }) => `${access} ${url.includes('assets')}`))].toSorted(), [
    'Ops.Read false',
    'public true',
  ])
  await t.rejects(bootWith({}, { access: 'public' }), { code: 'FMOD_PUBLIC_ROUTES_INVALID_ACCESS' })
  await t.rejects(boot(t, { access: 'Ops.Read' }), { code: 'FMOD_CORE_INVALID_OPTION' })
})

test('the button of the account has the initials of the caller', async (t) => {
  const caller = { id: 'x', name: '' }
  const app = await boot(t, { findCaller: () => ({ ...caller }), guard: false })
  for (const [name, initials] of [
    ['Ada Lovelace', 'AL'],
    ['ada', 'AD'],
    ['  Äda   von  Ω ', 'ÄV'],
    ['<b>', '&#60;B'],
    ['👩 x', '👩X'],
  ] as const) {
    caller.name = name
    t.match((await app.inject('/settings/preferences')).payload, `>${initials}</span>`, name)
  }
})

test('a boot error where the gate is registered after the pages: no request of theirs could find the caller', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(settings, { definitions: [definitions], findCaller: () => null })
  await app.register(settingsUi, { guard: false })
  app.decorateRequest('caller', null) // as the gate does
  await t.rejects(async () => app.ready(), { code: 'FMOD_SETTINGS_UI_CALLER_UNKNOWN' })
})

test('the header needs no script, and a hostile name in it stays text', async (t) => {
  const name = '"><script>alert(1)</script>'
  const app = await boot(t, {
    findCaller: () => ({ id: 'x', name, permissions: ['Settings.Update'] }),
    guard: false,
    logout: '/logout',
  })
  const html = (await app.inject('/settings/preferences')).payload
  t.equal(html.match(/<script/g)?.length, 2, 'its own script and its configuration')
  t.match(html, '<span class="fm-user" dir="auto">&#34;&#62;&#60;script&#62;alert(1)')
  t.match(html, '<form method="post" action="../logout"><button>Sign out</button></form>')
  t.match(html, '<a href="./manage" dir="auto">Settings</a>')
  t.notMatch(html, '"userName"', 'what the script does not need is not sent twice')
})

test('a boot error without the API that the pages talk to', async (t) => {
  const options = { findCaller: () => null, guard: false } as const
  await t.rejects(boot(t, options, false), { code: 'FMOD_SETTINGS_UI_API_MISSING' })
  await t.rejects(boot(t, { ...options, baseUrl: '/elsewhere' }), { code: 'FMOD_SETTINGS_UI_API_MISSING' })
})

test('options that cannot be meant are boot errors that name them', async (t) => {
  const wrong: readonly (readonly [string, object])[] = [
    ['prefix', { prefix: 'settings' }],
    ['prefix', { prefix: '/' }],
    ['prefix', { prefix: '/settings/' }],
    ['baseUrl', { baseUrl: 'https://elsewhere.example/api' }],
    ['home', { home: '//elsewhere.example' }],
    ['logout', { logout: '/\\elsewhere.example' }],
    ['basUrl (did you mean baseUrl?)', { basUrl: '/api/settings' }],
    ['theme.schem (did you mean theme.scheme?)', { theme: { schem: 'dark' } }],
    ['locale', { locale: 'no_such' }],
    ['messages', { messages: { skip: 7 } }],
    ['messages', { messages: { saved: 'Saved' } }],
    ['messages', { messages: { saved: { one: 'Saved' } } }],
    ['theme.scheme', { theme: { scheme: 'sepia' } }],
    ['theme.tokens.colour', { theme: { tokens: { colour: 'red' } } }],
    ['theme.tokens.accent', { theme: { tokens: { accent: 'red;} body{display:none' } } }],
  ]
  for (const [name, options] of wrong) {
    await t.rejects(
      boot(t, { findCaller: () => null, guard: false, ...options }),
      { code: 'FMOD_CORE_INVALID_OPTION', message: name },
      name,
    )
  }
})

test('a package that was not built says so', async (t) => {
  const folder = new URL(`file://${t.testdir({ 'app.js': '' })}/`)
  await t.rejects(findAssets(folder), { code: 'FMOD_SETTINGS_UI_NOT_BUILT' })
})

test('named and default export are the same plugin', async (t) => {
  t.equal(settingsUi, settingsUiByDefault)
})

test('a preview names settings whose authors may see them, and each part of the page once', async (t) => {
  for (const [preview, problem] of [
    [{ 'app.titel': 'title' }, /preview\.app\.titel must be the key of a setting/],
    [{ 'app.api_token': 'title' }, /preview\.app\.api_token must not be sensitive/],
    [{ 'mail.host': 'title' }, /preview\.mail\.host must not be a System setting/],
    [{ 'app.title': 'title', 'app.style': 'title' }, /preview must have title once/],
    [{ 'app.title': 'logo' }, /preview must be an object with keys of settings/],
    [
      { 'app.style': { slot: 'logo', values: { calm: 'https://elsewhere.example/x.svg' } } },
      /preview must be/,
    ],
    [{ 'app.style': { slot: 'logo', values: { calm: '//elsewhere.example/x.svg' } } }, /preview must be/],
  ] as const) {
    await t.rejects(boot(t, { guard: false, findCaller: () => null, preview } as never), {
      code: 'FMOD_CORE_INVALID_OPTION',
      message: problem,
    })
  }
  const app = await createHost(t, {
    ui: {
      banner: '<b>Closed</b>',
      preview: { 'app.title': 'title', 'app.style': { slot: 'logo', values: { calm: '/static/calm.svg' } } },
    },
  })
  const html = (await app.inject({ url: '/settings/manage', ...as('ada') })).payload
  t.match(configOf(html), { preview: { 'app.style': { values: { calm: '../static/calm.svg' } } } })
  t.match(html, /data-fm-preview="banner">&#60;b&#62;Closed&#60;\/b&#62;</)
})
