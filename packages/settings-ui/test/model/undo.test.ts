/** Undo of a save, over the real API: everything is as it was, or nothing has changed. */
import { SettingScope } from '@fastify-modular/settings'
import fc from 'fast-check'
import { test } from 'tap'
import { definitions } from '../support/definitions.js'
import { startEditor } from '../support/editor.js'
import { createHost } from '../support/host.js'

const { Application, System } = SettingScope

test('Undo of a save puts back the values that were stored, and the defaults where none was, in one change', async (t) => {
  const app = await createHost(t)
  await app.settings.contract.setSetting('app.title', 'A', Application)
  await app.settings.contract.setSetting('app.features', { beta: true }, Application)
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
  t.equal(editor.getState().message?.text, '3 settings are as they were')
  t.equal(app.settings.get(definitions.title), 'A')
  t.same(app.settings.get(definitions.features), { beta: true })
  t.equal(valueOf('app.style')?.isOverridden, false)
  t.equal(app.settings.status.revision, before + 1)
})

test('a secret is put back too, after a question', async (t) => {
  const app = await createHost(t)
  await app.settings.contract.setSetting('mail.password', 'old', System)
  const { editor, enter } = await startEditor(app)
  enter('mail.password', 'new')
  enter('mail.host', 'mail.test')
  await editor.save()
  const { undo, asks } = editor.getState().message ?? {}
  t.equal(undo, undefined)
  await editor.revert(asks ?? 0)
  t.equal(app.settings.get(definitions.password), 'old')
  t.equal(app.settings.get(definitions.host), null)
})

test('an ended session is no loss: Undo can be made again', async (t) => {
  const app = await createHost(t)
  let isSignedOut = false
  const { editor, enter } = await startEditor(app, 'ada', {
    fetch: (request) => async (input, init) =>
      isSignedOut ? new Response(null, { status: 401 }) : request(input, init),
  })
  enter('app.title', 'B')
  await editor.save()
  const revision = app.settings.status.revision
  isSignedOut = true
  await editor.revert(revision)
  t.equal(editor.getState().failure?.status, 401)
  t.equal(app.settings.get(definitions.title), 'B')
  isSignedOut = false
  await editor.revert(revision)
  t.equal(app.settings.get(definitions.title), 'Fastify Modular')
})

/** What one of two administrators does. */
const step = fc.record({
  who: fc.constantFrom(0, 1),
  does: fc.constantFrom('save', 'save', 'undo', 'force'),
  title: fc.constantFrom('A', 'B', 'C'),
  style: fc.constantFrom('calm', 'dense', 'playful'),
})

test('a hundred random sequences of saves and undos of two administrators end as a model says', async (t) => {
  const app = await createHost(t)
  /** Which save wrote a value last; 0 is none of them. */
  type Cell = { readonly value: unknown; readonly by: number }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      for (const key of ['app.title', 'app.style'])
        await app.settings.contract.resetToDefault(key, Application)
      const administrators = [await startEditor(app, 'ada'), await startEditor(app, 'ada')]
      const model = new Map<string, Cell>([
        ['app.title', { value: 'Fastify Modular', by: 0 }],
        ['app.style', { value: 'calm', by: 0 }],
      ])
      /** The last save of each, with what it replaced. */
      const lastOf: (
        | { readonly by: number; readonly revision: number; readonly before: ReadonlyMap<string, Cell> }
        | undefined
      )[] = []
      let count = 0
      for (const { who, does, title, style } of steps) {
        const one = administrators[who]
        if (!one) continue
        if (does === 'save') {
          await one.editor.refresh()
          one.enter('app.title', title)
          one.enter('app.style', style)
          const changed = [...one.editor.getState().drafts.keys()]
          if (changed.length === 0) continue
          await one.editor.save()
          const by = ++count
          lastOf[who] = {
            by,
            revision: app.settings.status.revision,
            before: new Map(changed.map((key) => [key, model.get(key) ?? { value: null, by: 0 }])),
          }
          const entered = new Map([
            ['app.title', title],
            ['app.style', style],
          ])
          for (const key of changed) model.set(key, { value: entered.get(key), by })
          continue
        }
        const last = lastOf[who]
        if (!last) continue
        const isMine = [...last.before.keys()].every((key) => model.get(key)?.by === last.by)
        await one.editor.revert(last.revision, does === 'force')
        lastOf[who] = undefined
        if (!isMine && does === 'undo') {
          t.equal(typeof one.editor.getState().message?.anyway, 'function', 'it asks')
          continue
        }
        const by = ++count
        for (const [key, { value }] of last.before) model.set(key, { value, by })
      }
      const stored = [app.settings.get(definitions.title), app.settings.get(definitions.style)]
      t.same(stored, [model.get('app.title')?.value, model.get('app.style')?.value])
    }),
    { numRuns: 100 },
  )
})
