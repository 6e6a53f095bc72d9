/** What the editor does where a test of pages cannot make it fail. */
import { createSettingsClient } from '@fastify-modular/settings/client'
import { test } from 'tap'
import { defaultMessages } from '#src/react/messages.js'
import { createEditor } from '#src/react/model/editor.js'
import { ownSource } from '#src/react/model/source.js'
import { startHost } from '../support/host.js'

test('preferences are saved on after a function of the host has thrown', async (t) => {
  const { url } = await startHost(t)
  const api = createSettingsClient({
    baseUrl: `${url}/api/settings`,
    headers: () => ({ cookie: 'user=vera' }),
  })
  const thrown = new Error('of the host')
  let calls = 0
  const editor = createEditor(
    ownSource(api),
    () => ({ messages: defaultMessages, locale: 'en' }),
    () => {
      if (++calls === 1) throw thrown
    },
  )
  await editor.load()
  const definition = editor.getState().definitions.find(({ key }) => key === 'user.theme')
  if (!definition) throw new Error('no such definition')
  editor.edit(definition, 'dark')
  await t.rejects(editor.commit(definition.key), thrown)
  editor.edit(definition, 'light')
  await editor.commit(definition.key)
  t.equal(calls, 2)
  t.equal((await api.mine()).find(({ key }) => key === 'user.theme')?.value, 'light')
})
