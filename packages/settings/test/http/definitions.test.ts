import { test } from 'tap'
import { setting, SettingScope } from '@fastify-modular/settings'
import { as, createApp, definitions } from '../support/app.ts'

const { Application } = SettingScope
const hinted = {
  enabled: setting.bool('smtp.enabled', {
    displayName: 'Send mail',
    scope: Application,
    tags: ['Mail'],
    default: true,
  }),
  mode: setting.select('smtp.mode', {
    displayName: 'Security',
    description: 'How the Café server is reached',
    scope: Application,
    group: 'SMTP server',
    options: [
      { value: 'tls', label: 'TLS', description: 'Port 465' },
      { value: 'plain', label: 'None' },
    ],
    default: 'tls',
    tags: ['mail', 'network'],
    advanced: true,
    showWhen: { key: 'smtp.enabled', equals: true },
    confirm: 'Mail in transit is lost.',
    restart: true,
    docsUrl: 'https://example.com/docs#smtp',
  }),
  timeout: setting.number('smtp.timeout', {
    displayName: 'Time-out',
    scope: Application,
    unit: 'seconds',
    hidden: true,
  }),
}
const options = { definitions: [definitions, hinted] }
const keysOf = (items: readonly { key: string }[]): string[] => items.map(({ key }) => key)

test('S6: definitions carry what user interfaces need, every member present', async (t) => {
  const app = await createApp(t, options)
  const all = (await as(app, 'alice')('GET', '/definitions')).json
  const of = (key: string) => all.find((item: { key: string }) => item.key === key)
  t.match(of('smtp.mode'), {
    allowedValues: ['tls', 'plain'],
    options: [
      { value: 'tls', label: 'TLS', description: 'Port 465' },
      { value: 'plain', label: 'None', description: null },
    ],
    unit: null,
    tags: ['mail', 'network'],
    hidden: false,
    advanced: true,
    showWhen: { key: 'smtp.enabled', equals: true },
    confirm: 'Mail in transit is lost.',
    restart: true,
    docsUrl: 'https://example.com/docs#smtp',
    group: 'SMTP server',
    groupName: 'SMTP server',
  })
  t.match(of('smtp.timeout'), { unit: 'seconds', hidden: true }, 'a hidden setting is defined like any other')
  t.match(of('app.title'), {
    options: null,
    unit: null,
    tags: [],
    hidden: false,
    showWhen: null,
    docsUrl: null,
  })
})

test('S6: a hidden setting is read and written over HTTP like any other', async (t) => {
  const app = await createApp(t, options)
  t.equal((await as(app, 'editor')('PUT', '', { key: 'smtp.timeout', scope: 1, value: 5 })).status, 204)
  t.ok(keysOf((await as(app, 'alice')('GET', '')).json).includes('smtp.timeout'))
})

const found: readonly (readonly [string, readonly string[]])[] = [
  ['?tag=mail', ['smtp.enabled', 'smtp.mode']],
  ['?tag=NETWORK', ['smtp.mode']],
  ['?tag=net', []],
  ['?q=smtp', ['smtp.enabled', 'smtp.mode', 'smtp.timeout']],
  ['?q=TIME-OUT', ['smtp.timeout']],
  ['?q=network', ['smtp.mode']],
  ['?q=server%20SMTP', ['smtp.mode']],
  ['?q=CAF%C3%89', ['smtp.mode']],
  ['?q=CAFE%CC%81', ['smtp.mode']],
  ['?q=465', []],
  ['?q=smtp&tag=mail', ['smtp.enabled', 'smtp.mode']],
  ['?q=send&tag=network', []],
  ['?q=.*', []],
  ['?q=no-such-word', []],
]
for (const [query, keys] of found) {
  test(`S6: ${query} selects definitions and values alike`, async (t) => {
    const app = await createApp(t, options)
    const alice = as(app, 'alice')
    t.same(keysOf((await alice('GET', `/definitions${query}`)).json).toSorted(), keys)
    t.same(keysOf((await alice('GET', query)).json).toSorted(), keys)
    const inProcess = await app.settings.contract.getSettingValues(
      Object.fromEntries(new URLSearchParams(query)),
    )
    t.same(keysOf(inProcess).toSorted(), keys)
  })
}

test('S6: blank filters select all; filters combine with scope and group', async (t) => {
  const app = await createApp(t, options)
  const alice = as(app, 'alice')
  const all = keysOf((await alice('GET', '')).json)
  t.same(keysOf((await alice('GET', '?q=%20&tag=')).json), all)
  t.equal((await alice('GET', '/definitions?q=&tag=')).json.length, all.length)
  t.same(keysOf((await alice('GET', '?tag=mail&group=SMTP%20server')).json), ['smtp.mode'])
  t.same((await alice('GET', '?tag=mail&scope=0')).json, [])
})

test("S6: the caller's own rows are filtered too", async (t) => {
  const app = await createApp(t, { ...options, selfService: true })
  const alice = as(app, 'alice')
  await alice('PUT', '/me', { key: 'app.theme', value: 'dark' })
  await alice('PUT', '/me', { key: 'user.preferred_density', value: 'compact' })
  t.same(keysOf((await alice('GET', '?scope=2&q=theme')).json), ['app.theme'])
})

test('S6: long and repeated filters are 400', async (t) => {
  const app = await createApp(t, options)
  for (const path of ['', '/definitions']) {
    for (const query of [`?q=${'x'.repeat(101)}`, `?tag=${'x'.repeat(51)}`, '?q=a&q=b', '?tag=a&tag=b'])
      t.equal((await as(app, 'alice')('GET', path + query)).status, 400, path + query.slice(0, 12))
  }
})

test('decision 26: filtered lists and definitions answer 304 until their content changes', async (t) => {
  const app = await createApp(t, options)
  const alice = as(app, 'alice')
  const tagOf = async (path: string) => String((await alice('GET', path)).headers.etag)
  const again = async (path: string, tag: string) =>
    (await alice('GET', path, undefined, { 'if-none-match': tag })).status
  const [all, mail, list] = [
    await tagOf('/definitions'),
    await tagOf('/definitions?tag=mail'),
    await tagOf('?tag=mail'),
  ]
  t.not(all, mail, 'other content, other tag')
  t.equal(await again('/definitions?tag=mail', mail), 304)
  t.equal(await again('/definitions', mail), 200)
  t.equal(await again('?tag=mail', list), 304)
  await as(app, 'editor')('PUT', '', { key: 'smtp.enabled', scope: 1, value: false })
  t.equal(await again('/definitions?tag=mail', mail), 304, 'definitions have not changed')
  t.equal(await again('?tag=mail', list), 200)
  t.match((await alice('GET', '?tag=mail')).json, [
    { key: 'smtp.enabled', value: false },
    { key: 'smtp.mode' },
  ])
})
