/** Undo of a save, over the real API: everything is as it was, or nothing has changed. */
import { SettingScope } from '@fastify-modular/settings'
import { test } from 'tap'
import { definitions } from '../support/definitions.js'
import { startEditor } from '../support/editor.js'
import { createHost } from '../support/host.js'

const { Application } = SettingScope

test('Undo of a save puts back the values that were stored, and the defaults where none was, in one change', async (t) => {
  const app = await createHost(t)
  await app.settings.setSetting('app.title', 'A', Application)
  await app.settings.setSetting('app.features', { beta: true }, Application)
  const { editor, enter, valueOf } = await startEditor(app)
  enter('app.title', 'B')
  enter('app.features', '{"beta":false}')
  enter('app.style', 'dense')
  await editor.save()
  t.equal(app.settings.get(definitions.title), 'B')
  const before = app.settings.status.revision
  editor.getState().message?.undo?.()
  await editor.save() // has nothing to save, and waits
  t.equal(editor.getState().failure, null)
  t.equal(app.settings.get(definitions.title), 'A')
  t.same(app.settings.get(definitions.features), { beta: true })
  t.equal(valueOf('app.style')?.isOverridden, false)
  t.equal(app.settings.status.revision, before + 1)
})

test('Undo of a save leaves alone what somebody has changed since, and the rest with it', async (t) => {
  const app = await createHost(t)
  await app.settings.setSetting('app.title', 'A', Application)
  const { editor, enter } = await startEditor(app)
  enter('app.title', 'B')
  enter('app.style', 'dense')
  await editor.save()
  const { undo } = editor.getState().message ?? {}
  await app.settings.setSetting('app.title', 'C', Application)
  undo?.()
  await editor.save()
  t.equal(app.settings.get(definitions.title), 'C')
  t.equal(app.settings.get(definitions.style), 'dense')
})
