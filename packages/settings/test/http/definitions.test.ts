import { test } from 'tap'
import { setting, SettingScope } from '@fastify-modular/settings'
import { as, createApp, definitions } from '../support/app.ts'

const { Application } = SettingScope
const hinted = {
  enabled: setting.bool('smtp.enabled', {
    displayName: 'Send mail',
    scope: Application,
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
    keywords: ['mail', 'network'],
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
    keywords: ['mail', 'network'],
    hidden: false,
    advanced: true,
    showWhen: { key: 'smtp.enabled', equals: true },
    confirm: 'Mail in transit is lost.',
    restart: true,
    docsUrl: 'https://example.com/docs#smtp',
    group: 'SMTP server',
  })
  t.match(of('smtp.timeout'), { unit: 'seconds', hidden: true }, 'a hidden setting is defined like any other')
  t.match(of('app.title'), {
    options: null,
    unit: null,
    keywords: [],
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

test('a search is not the server’s: interfaces have all definitions', async (t) => {
  const app = await createApp(t, options)
  for (const path of ['?q=smtp', '?tag=mail', '/definitions?q=smtp', '/definitions?tag=mail'])
    t.equal((await as(app, 'alice')('GET', path)).status, 400, path)
})

test('decision 26: lists of a group answer 304 until their content changes', async (t) => {
  const app = await createApp(t, options)
  const alice = as(app, 'alice')
  const tagOf = async (path: string) => String((await alice('GET', path)).headers.etag)
  const again = async (path: string, tag: string) =>
    (await alice('GET', path, undefined, { 'if-none-match': tag })).status
  const list = await tagOf('?group=SMTP%20server')
  t.equal(await again('?group=SMTP%20server', list), 304)
  const editor = as(app, 'editor')
  await editor('PUT', '', { key: 'smtp.enabled', scope: 1, value: false })
  t.equal(await again('?group=SMTP%20server', list), 304, 'of another group')
  await editor('PUT', '', { key: 'smtp.mode', scope: 1, value: 'plain' })
  t.equal(await again('?group=SMTP%20server', list), 200)
})
