/** What the editor does where a test of pages cannot make it fail, over the real API. */
import { SettingScope } from '@fastify-modular/settings'
import { test } from 'tap'
import { needsSave } from '#src/browser/model/editor-state.js'
import { isSent } from '#src/browser/model/setting.js'
import { definitions } from '../support/definitions.js'
import { startEditor } from '../support/editor.js'
import { createHost } from '../support/host.js'

const { Application, User } = SettingScope

/** What is answered when the test says so. */
function held() {
  let answer = (): void => undefined
  const answered = new Promise<void>((resolve) => (answer = resolve))
  return { answer: () => answer(), answered }
}

/** Stands before the application: requests for which it is switched on wait, or fail. */
function gate() {
  const state = {
    fails: (_method: string): boolean => false,
    waits: (_method: string) => undefined as Promise<void> | undefined,
  }
  const fetch =
    (request: typeof globalThis.fetch): typeof globalThis.fetch =>
    async (input, init) => {
      const method = init?.method ?? 'GET'
      if (state.fails(method)) throw new TypeError('no network')
      const answer = await request(input, init)
      await state.waits(method)
      return answer
    }
  return Object.assign(state, { fetch })
}

test('preferences are saved on after a function of the host has thrown', async (t) => {
  const app = await createHost(t)
  const thrown = new Error('of the host')
  let calls = 0
  const { editor, enter } = await startEditor(app, 'vera', {
    isOwn: true,
    onSaved() {
      if (++calls === 1) throw thrown
    },
  })
  enter('user.theme', 'dark')
  await t.rejects(editor.commit('user.theme'), thrown)
  enter('user.theme', 'light')
  await editor.commit('user.theme')
  t.equal(calls, 2)
  t.equal((await app.settings.forUser('vera')).get(definitions.theme), 'light')
})

test('a draft that was sent and not saved is told from one that was entered since, or never sent', async (t) => {
  const app = await createHost(t)
  await app.settings.contract.setSetting('app.style', 'dense', Application)
  const network = gate()
  const { editor, enter, definitionOf } = await startEditor(app, 'ada', network)
  const sent = () => [...editor.state.drafts.values()].map(isSent)
  network.fails = (method) => method !== 'GET'
  enter('app.title', 'never sent')
  await editor.reset(definitionOf('app.style'))
  t.equal(editor.state.failure?.status, 0)
  t.same(sent(), [false], 'the reset had no answer, no save')
  await editor.save()
  t.same(sent(), [true])
  enter('app.style', 'calm')
  t.same(sent(), [true, false])
  enter('app.title', 'another')
  t.same(sent(), [false, false])
})

test('what is entered while a reset is under way is kept, and is saved after it', async (t) => {
  for (const isOwn of [false, true]) {
    const app = await createHost(t)
    const user = isOwn ? 'vera' : undefined
    await app.settings.contract.setSetting('user.theme', 'dark', isOwn ? User : Application, user)
    const network = gate()
    const { editor, enter, draftOf, definitionOf } = await startEditor(app, isOwn ? 'vera' : 'ada', {
      isOwn,
      ...network,
    })
    const begun = held()
    const reset = held()
    network.waits = (method) => {
      if (method !== 'DELETE') return undefined
      begun.answer()
      return reset.answered
    }
    const done = editor.reset(definitionOf('user.theme'))
    await begun.answered
    enter('user.theme', 'dark') // what was stored
    const saved = editor.save()
    t.equal(draftOf('user.theme')?.input, 'dark')
    reset.answer()
    await Promise.all([done, saved])
    t.equal((await app.settings.forUser('vera')).get(definitions.theme), 'dark')
    t.equal(editor.state.drafts.size, 0)
    t.equal(editor.state.failure, null)
  }
})

test('a preference whose save failed asks for another until it is saved', async (t) => {
  const app = await createHost(t)
  const network = gate()
  const { editor, enter, definitionOf } = await startEditor(app, 'vera', { isOwn: true, ...network })
  const asks = () => needsSave(editor.state)
  network.fails = (method) => method === 'PUT'
  enter('user.theme', 'dark')
  t.notOk(asks(), 'leaving it saves it')
  await editor.commit('user.theme')
  t.ok(asks())
  await editor.reset(definitionOf('user.page_size'))
  t.equal(editor.state.failure, null)
  t.ok(asks(), 'also after something else went well')
  editor.discard()
  t.notOk(asks())
  editor.state.message?.undo?.()
  t.ok(asks(), 'also after it was discarded and came back')
  network.fails = () => false
  enter('user.page_size', '50')
  await editor.commit('user.page_size')
  const vera = await app.settings.forUser('vera')
  t.same(
    [vera.get(definitions.theme), vera.get(definitions.pageSize)],
    ['dark', 50],
    'the next one takes it along',
  )
  t.notOk(asks())
})

test('a change that another user has taken back is no conflict', async (t) => {
  const app = await createHost(t)
  const { editor, enter, draftOf, shown } = await startEditor(app)
  enter('app.title', 'mine')
  await app.settings.contract.setSetting('app.title', 'theirs', Application)
  await editor.refresh()
  t.equal(draftOf('app.title')?.theirs?.value, 'theirs')
  await app.settings.contract.resetToDefault('app.title', Application)
  await editor.refresh()
  t.same(draftOf('app.title'), { input: 'mine' })
  editor.undo('app.title')
  t.equal(shown('app.title'), 'Fastify Modular')
})

test('values that were read earlier replace neither what was read later nor what was saved since', async (t) => {
  const app = await createHost(t)
  const network = gate()
  const { editor, enter, shown } = await startEditor(app, 'ada', network)
  const early = held()
  network.waits = () => early.answered
  await app.settings.contract.setSetting('app.title', 'earlier', Application)
  const first = editor.refresh()
  await new Promise((resolve) => setImmediate(resolve))
  network.waits = () => undefined
  await app.settings.contract.setSetting('app.title', 'later', Application)
  await editor.refresh()
  t.equal(shown('app.title'), 'later')
  early.answer()
  await first
  t.equal(shown('app.title'), 'later')

  const loaded = held()
  network.waits = (method) => (method === 'GET' ? loaded.answered : undefined)
  const load = editor.load()
  await new Promise((resolve) => setImmediate(resolve))
  enter('app.title', 'saved')
  await editor.save()
  loaded.answer()
  await load
  t.equal(shown('app.title'), 'saved')
  t.equal(editor.state.phase, 'ready')
})

test('a discarded draft that comes back is still one of the value it was entered over', async (t) => {
  const app = await createHost(t)
  const { editor, enter, draftOf } = await startEditor(app)
  enter('app.title', 'mine')
  editor.discard()
  const { undo } = editor.state.message ?? {}
  await app.settings.contract.setSetting('app.title', 'theirs', Application)
  await editor.refresh()
  undo?.()
  await editor.save()
  t.equal(app.settings.get(definitions.title), 'theirs')
  t.equal(draftOf('app.title')?.theirs?.value, 'theirs')
})

test('a preference to be confirmed is not saved by leaving it', async (t) => {
  const theme = { ...definitions.theme, confirm: 'Sure?' }
  const app = await createHost(t, { settings: { definitions: [{ theme }], overrides: {} } })
  const { editor, enter, definitionOf } = await startEditor(app, 'vera', { isOwn: true })
  const stored = async () => (await app.settings.forUser('vera')).get(definitions.theme)
  enter('user.theme', 'dark')
  editor.leave(definitionOf('user.theme'))
  await editor.commit('none')
  t.equal(await stored(), 'system')
  t.ok(needsSave(editor.state))
  await editor.save()
  t.equal(await stored(), 'dark')
})

test('a message goes with the next thing that is entered, and with the next save', async (t) => {
  const app = await createHost(t)
  const network = gate()
  const { editor, enter } = await startEditor(app, 'ada', network)
  const says = () => editor.state.message?.text
  enter('app.title', 'A')
  await editor.save()
  t.equal(says(), '1 setting saved')
  enter('app.title', 'B')
  t.equal(says(), undefined)
  network.fails = (method) => method === 'PUT'
  await editor.save()
  t.equal(says(), undefined, 'nothing was saved')
  t.equal(editor.state.failure?.status, 0)
})
