/** Undo of a save, over the real API: everything is as it was, or nothing has changed. */
import { SettingScope } from '@fastify-modular/settings'
import fc from 'fast-check'
import { test } from 'tap'
import { definitions } from '../support/definitions.js'
import type { SettingsEditor } from '#src/browser/model/editor.js'
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
  editor.state.message?.undo?.()
  await editor.save() // has nothing to save, and waits
  t.equal(editor.state.failure, null)
  t.equal(editor.state.message?.text, '3 settings are as they were')
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
  const { undo, asks } = editor.state.message ?? {}
  t.equal(undo, undefined)
  await editor.revert(asks ?? 0)
  t.equal(app.settings.get(definitions.password), 'old')
  t.equal(app.settings.get(definitions.host), null)
})

test('an ended session is no loss: Undo of the bar is there again after signing in', async (t) => {
  const app = await createHost(t)
  let isSignedOut = false
  const { editor, enter } = await startEditor(app, 'ada', {
    fetch: (request) => async (input, init) =>
      isSignedOut ? new Response(null, { status: 401 }) : request(input, init),
  })
  enter('app.title', 'B')
  await editor.save()
  isSignedOut = true
  await pressUndo(editor)
  t.equal(editor.state.failure?.status, 401)
  t.equal(app.settings.get(definitions.title), 'B')
  isSignedOut = false
  editor.dismiss() // as the bar does once the user is back
  t.equal(editor.state.failure, null)
  await pressUndo(editor)
  t.equal(app.settings.get(definitions.title), 'Fastify Modular')
  editor.dismiss()
  t.equal(editor.state.message, null)
})

test('Undo anyway replaces what it has named, and asks again about anything newer', async (t) => {
  const app = await createHost(t)
  const theirs = (key: string, value: string) => app.settings.contract.setSetting(key, value, Application)
  const { editor, enter } = await startEditor(app)
  enter('app.title', 'Mine')
  enter('app.style', 'dense')
  await editor.save()
  await theirs('app.title', 'Theirs')
  await pressUndo(editor)
  t.match(editor.state.message, { kind: 'warn', text: /Title/ })
  await theirs('app.title', 'Never shown')
  await theirs('app.style', 'playful')
  for (const [title, style] of [
    ['Never shown', 'playful'],
    ['Fastify Modular', 'calm'],
  ]) {
    editor.state.message?.anyway?.()
    await editor.save() // waits
    t.equal(app.settings.get(definitions.title), title)
    t.equal(app.settings.get(definitions.style), style)
  }
  t.equal(editor.state.message?.text, '2 settings are as they were')
})

test('a value that is typed differently is no change: the last change set stays whose it is', async (t) => {
  const app = await createHost(t)
  await app.settings.contract.setMany([
    { key: 'app.features', scope: Application, value: { beta: true } },
    { key: 'app.title', scope: Application, value: 'Theirs' },
  ])
  const { editor, enter } = await startEditor(app)
  enter('app.features', '{ "beta":true }')
  t.equal(editor.state.drafts.size, 1)
  await editor.save()
  t.equal(editor.state.message?.text, '1 setting saved')
  t.equal(editor.state.message?.undo, undefined)
  enter('app.features', '{ "beta":true }')
  enter('app.style', 'dense')
  await editor.save()
  await pressUndo(editor)
  t.equal(app.settings.get(definitions.title), 'Theirs')
  t.equal(app.settings.get(definitions.style), 'calm')
})

test('what was removed comes back: a value that was reset, and a field that was emptied', async (t) => {
  const app = await createHost(t)
  await app.settings.contract.setSetting('app.title', 'A', Application)
  await app.settings.contract.setSetting('mail.host', 'mail.test', System)
  await app.settings.contract.setSetting('mail.password', 'old', System)
  const { editor, enter, definitionOf } = await startEditor(app)
  await editor.reset(definitionOf('app.title'))
  t.equal(app.settings.get(definitions.title), 'Fastify Modular')
  await pressUndo(editor)
  t.equal(app.settings.get(definitions.title), 'A')
  enter('mail.host', '')
  await editor.save()
  t.equal(app.settings.get(definitions.host), null)
  await pressUndo(editor)
  t.equal(app.settings.get(definitions.host), 'mail.test')
  await editor.reset(definitionOf('mail.password'))
  const { undo, asks } = editor.state.message ?? {}
  t.equal(undo, undefined, 'a secret is asked for')
  await editor.revert(asks ?? 0)
  t.equal(app.settings.get(definitions.password), 'old')
})

/** Presses Undo of the bar, and waits for what it does. */
async function pressUndo(editor: SettingsEditor): Promise<void> {
  editor.state.message?.undo?.()
  await editor.save() // has nothing to save, and waits
}

/** What one of two administrators does. */
const step = fc.record({
  who: fc.constantFrom(0, 1),
  does: fc.constantFrom('save', 'save', 'reset', 'undo', 'force'),
  title: fc.constantFrom('A', 'B', 'C'),
  style: fc.constantFrom('calm', 'dense', 'playful'),
  // Each value in two spellings: what is typed differently is no change.
  features: fc.constantFrom('{"beta":true}', '{ "beta":true }', '{"beta":false}', '{ "beta":false }'),
})

test('a hundred random sequences of saves and undos of two administrators end as a model says', async (t) => {
  const app = await createHost(t)
  const keys = ['app.title', 'app.style', 'app.features'] as const
  /** What is stored, as JSON, and which write did it; 0 is none of them. */
  type Cell = { readonly stored: string | undefined; readonly by: number }
  const unset: Cell = { stored: undefined, by: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      for (const key of keys) await app.settings.contract.resetToDefault(key, Application)
      const administrators = [await startEditor(app, 'ada'), await startEditor(app, 'ada')]
      const model = new Map<string, Cell>()
      /** The last write of each that changed something, with what it replaced, while the bar offers its Undo. */
      const lastOf: ({ readonly by: number; readonly before: ReadonlyMap<string, Cell> } | undefined)[] = []
      let count = 0
      const cellOf = (key: string): Cell => model.get(key) ?? unset
      /** Writes what differs, and returns what it replaced. */
      function write(wanted: ReadonlyMap<string, string | undefined>) {
        const by = ++count
        const changed = [...wanted].filter(([key, stored]) => cellOf(key).stored !== stored)
        const before = new Map(changed.map(([key]) => [key, cellOf(key)]))
        for (const [key, stored] of changed) model.set(key, { stored, by })
        return before.size === 0 ? undefined : { by, before }
      }
      for (const { who, does, title, style, features } of steps) {
        const one = administrators[who]
        if (!one) continue
        const { editor } = one
        if (does === 'save') {
          await editor.refresh()
          const entered = { 'app.title': title, 'app.style': style, 'app.features': features }
          for (const key of keys) one.enter(key, entered[key])
          const drafts = [...editor.state.drafts.keys()]
          await editor.save()
          const values = { ...entered, 'app.features': JSON.parse(features) }
          lastOf[who] = write(
            new Map(
              keys.filter((key) => drafts.includes(key)).map((key) => [key, JSON.stringify(values[key])]),
            ),
          )
          continue
        }
        if (does === 'reset') {
          await editor.refresh()
          await editor.reset(one.definitionOf('app.title'))
          lastOf[who] = write(new Map([['app.title', undefined]]))
          continue
        }
        const last = lastOf[who]
        t.equal(editor.state.message?.undo !== undefined, last !== undefined, 'Undo is offered for a change')
        if (!last) continue
        lastOf[who] = undefined
        await pressUndo(editor)
        const isMine = [...last.before.keys()].every((key) => cellOf(key).by === last.by)
        const { anyway } = editor.state.message ?? {}
        t.equal(anyway !== undefined, !isMine, 'it asks where somebody has changed something since')
        if (!isMine && does === 'undo') {
          editor.dismiss()
          continue
        }
        anyway?.()
        await editor.save() // waits
        write(new Map([...last.before].map(([key, { stored }]) => [key, stored])))
      }
      for (const key of keys) {
        const stored = await app.settings.contract.getSettingAs(key, Application)
        t.equal(stored === null ? undefined : JSON.stringify(stored), cellOf(key).stored)
      }
    }),
    { numRuns: 100 },
  )
})
