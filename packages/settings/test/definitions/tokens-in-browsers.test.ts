/** `settings/tokens`: definitions that pages import. */
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import * as settings from '@fastify-modular/settings'
import * as tokens from '@fastify-modular/settings/tokens'
import { test } from 'tap'
import { bundle } from '../support/bundle.ts'

test('definitions take at most 1,500 bytes of a page, and nothing of Node', async (t) => {
  const { code, imports } = await bundle(`
    import { setting, SettingScope } from '@fastify-modular/settings/tokens'
    export const title = setting.text('app.title', { displayName: 'Title', scope: SettingScope.Application })
  `)
  t.same(imports, [])
  const size = brotliCompressSync(code).byteLength
  t.ok(size <= 1500, `${size} bytes`)
})

test('the definitions of the example need nothing of Node', async (t) => {
  const definitions = fileURLToPath(new URL('../../../host-example/dist/app-settings.js', import.meta.url))
  const { code, imports } = await bundle(`export * from ${JSON.stringify(definitions)}`)
  t.match(code, 'app.title')
  t.same(imports, [])
})

test('what the server uses is the same', async (t) => {
  t.equal(tokens.setting, settings.setting)
  t.equal(tokens.SettingScope, settings.SettingScope)
})

test('a default of a sensitive setting is refused where it is declared, and in no message', async (t) => {
  const declare = (value?: string | null): unknown =>
    tokens.setting.password('mail.password', {
      displayName: 'Password',
      scope: tokens.SettingScope.System,
      sensitive: true,
      ...(value !== undefined && { default: value }),
    })
  for (const value of ['hunter2', '']) {
    t.throws(() => declare(value), {
      name: 'TypeError',
      message:
        'The setting "mail.password" is sensitive: leave its default out, and write its value where it is deployed.',
    })
  }
  t.doesNotThrow(() => declare())
  t.doesNotThrow(() => declare(null))
})
