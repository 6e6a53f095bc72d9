/** `useSetting` in Chromium: under React 18, React 19 and Preact. */
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { testBrowser } from '@fastify-modular/test-support/browser'
import { until } from '@fastify-modular/test-support/until'
import { test } from 'tap'
import { bundle } from '../support/bundle.ts'
import { change, startPages } from '../support/page.ts'

const require = createRequire(import.meta.url)
const folderOf = (name: string): string => dirname(require.resolve(`${name}/package.json`))

const flavours = {
  'React 19': {},
  'React 18': { react: folderOf('react-18'), 'react-dom': folderOf('react-dom-18') },
  Preact: {
    'react/jsx-runtime': 'preact/jsx-runtime',
    'react-dom/client': 'preact/compat/client',
    'react-dom/server': 'preact/compat/server',
    react: 'preact/compat',
  },
}

/** Counts what its components render. */
const script = (isReact: boolean): string => `
import { createElement } from 'react'
import { createRoot, hydrateRoot } from 'react-dom/client'
${isReact ? "import { renderToString } from 'react-dom/server'" : ''}
import { createLiveClient } from '@fastify-modular/settings/client/live'
import { SettingsProvider, useSetting } from '@fastify-modular/settings/react'
import { setting, SettingScope } from '@fastify-modular/settings/tokens'

const common = { displayName: 'S', scope: SettingScope.Application }
const color = setting.color('app.primary_color', { ...common, default: '#000000' })
const port = setting.number('mail.port', { ...common, default: 1 })
const features = setting.json('app.feature_json', { ...common, default: { of: 'the token' } })
const shown = window.shown = { color: [], port: [], features: [], theme: [] }
const Show = (name, reference) => function () {
  const value = useSetting(reference)
  shown[name].push(value)
  return JSON.stringify(value)
}
const components = [Show('color', color), Show('port', port), Show('features', features), Show('theme', 'app.theme')]
window.client = createLiveClient()
const tree = () => createElement(SettingsProvider, { client: window.client }, components.map((each, key) => createElement('p', { key }, createElement(each))))
window.errors = []
window.mount = () => {
  const root = createRoot(document.getElementById('root'))
  root.render(tree())
  window.unmount = () => root.unmount()
}
${
  isReact
    ? `window.hydrate = (html) => {
  const element = document.createElement('div')
  for (const text of html) { const p = document.createElement('p'); p.textContent = text; element.append(p) }
  document.body.append(element)
  hydrateRoot(element, tree(), { onRecoverableError: (error) => window.errors.push(String(error)) })
  return element
}
window.render = () => { const html = renderToString(tree()); return [...html.matchAll(/<p>(.*?)<\\/p>/g)].map(([, text]) => text.replaceAll('&quot;', '"')) }
`
    : ''
}`

for (const [name, alias] of Object.entries(flavours))
  test(`under ${name}, a component renders once for each change of its own setting`, async (t) => {
    const context = await testBrowser(t)
    if (!context) return
    const { code } = await bundle(script(name !== 'Preact'), alias)
    const { app, open, signIn, openStreams } = await startPages(t, code)
    await change(app, 'app.primary_color', '#111111')
    await app.settings.set('app.theme', 'dark', { userId: 'alice' })
    await signIn(context, 'alice')
    const page = await open(context)
    const shown = () => page.evaluate('window.shown') as Promise<Record<string, unknown[]>>
    if (name !== 'Preact') {
      t.same(await page.evaluate('window.render()'), ['"#111111"', '1', '{"of":"the token"}', ''])
      await page.evaluate('Object.values(window.shown).forEach((each) => (each.length = 0))')
    }
    await page.evaluate('window.mount()')
    await until(async () => (await shown())['theme']?.at(-1) === 'dark')
    await until(async () => (await shown())['port']?.at(-1) === 587)
    await until(async () => JSON.stringify((await shown())['features']?.at(-1)) === '{}')
    t.same(await shown(), {
      color: ['#111111'],
      port: [1, 587],
      features: [{ of: 'the token' }, {}],
      theme: [undefined, 'dark'],
    })
    await change(app, 'mail.port', 25)
    await until(async () => (await shown())['port']?.length === 3)
    await change(app, 'app.primary_color', '#222222')
    await until(async () => (await shown())['color']?.length === 2)
    t.same(await shown(), {
      color: ['#111111', '#222222'],
      port: [1, 587, 25],
      features: [{ of: 'the token' }, {}],
      theme: [undefined, 'dark'],
    })
    if (name !== 'Preact') {
      // What the server has rendered is shown first, although the value has changed since.
      await page.evaluate(`window.hydrate(['"#111111"', '1', '{"of":"the token"}', ''])`)
      await until(async () => /#222222/.test(await page.locator('body > div').last().innerText()))
      t.same(await page.evaluate('window.errors'), [])
    }
    await page.evaluate('window.unmount()')
    if (name === 'Preact') await until(() => openStreams() === 0)
  })
