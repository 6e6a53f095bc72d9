/** What the editor does where a test of pages cannot make it fail. */
import { createSettingsClient, SettingScope, SettingsRequestError } from '@fastify-modular/settings/client'
import { test } from 'tap'
import { defaultMessages } from '#src/texts/messages.js'
import { needsSave } from '#src/react/model/editor-state.js'
import { createEditor } from '#src/react/model/editor.js'
import { type Definition, isSent, type SettingValue } from '#src/react/model/setting.js'
import { ownSource, type SettingsSource } from '#src/react/model/source.js'
import { startHost } from '../support/host.js'

const unanswered = new SettingsRequestError(0, {})

/** An editor of text settings whose values are `1` in version 1, over a store that a test holds in its hands. */
async function startEditor(keys: readonly string[], source: Partial<SettingsSource> = {}) {
  const definitions = keys.map((key) => ({ key, displayName: key, type: 0, defaultValue: '0' }) as Definition)
  const store = new Map(keys.map((key) => [key, valueOf(key, '1', 1)]))
  const editor = createEditor(
    {
      isOwn: false,
      definitions: async () => definitions,
      values: async () => [...store.values()],
      async save(entries) {
        const stale = entries.some(({ key, version }) => store.get(key)?.version !== version)
        if (stale) return { keys: [], saved: [], error: new SettingsRequestError(412, {}) }
        const saved = entries.map(({ key, value, version }) => valueOf(key, value, version + 1))
        for (const value of saved) store.set(value.key, value)
        return { keys: saved.map(({ key }) => key), saved }
      },
      async reset({ key }) {
        store.set(key, valueOf(key, '0', 0))
        return store.get(key)
      },
      ...source,
    },
    () => ({ messages: defaultMessages, locale: 'en' }),
    () => undefined,
  )
  await editor.load()
  const definitionOf = (key: string) => definitions.find((each) => each.key === key) as Definition
  return {
    editor,
    store,
    definitionOf,
    enter: (key: string, input: string) => editor.edit(definitionOf(key), input),
    draftOf: (key: string) => editor.getState().drafts.get(key),
    shown: (key: string) => editor.getState().values.get(key)?.value,
  }
}

function valueOf(key: string, value: SettingValue['value'], version: number): SettingValue {
  return { key, value, version, scope: SettingScope.Application, isOverridden: version > 0 } as SettingValue
}

/** What is answered when the test says so. */
function held<T>() {
  let answer = (_value: T): void => undefined
  const answered = new Promise<T>((resolve) => (answer = resolve))
  return { answer, answered }
}

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

test('a draft that was sent and not saved is told from one that was entered since, or never sent', async (t) => {
  const signedOut = new SettingsRequestError(401, {})
  const { editor, enter, definitionOf } = await startEditor(['a', 'b'], {
    save: async () => ({ keys: [], saved: [], error: signedOut }),
    reset: () => Promise.reject(signedOut),
  })
  const sent = () => [...editor.getState().drafts.values()].map(isSent)
  enter('a', 'never sent')
  await editor.reset(definitionOf('b'))
  t.equal(editor.getState().failure, signedOut)
  t.same(sent(), [false], 'the reset was refused, no save')
  await editor.save()
  t.same(sent(), [true])
  enter('b', 'entered since')
  t.same(sent(), [true, false])
  enter('a', 'another')
  t.same(sent(), [false, false])
})

test('Undo of a save works after something else was entered, and leaves what was entered', async (t) => {
  const started = await startEditor(['a', 'b'])
  const { editor, store, enter, draftOf, shown } = started
  enter('a', '2')
  await editor.save()
  const { undo } = editor.getState().announcement
  enter('b', '3')
  enter('a', '4')
  undo?.()
  await editor.reset(started.definitionOf('b'))
  t.equal(store.get('a')?.value, '1')
  t.equal(shown('a'), '1')
  t.equal(draftOf('a')?.input, '4')
  t.notOk(draftOf('b'), 'a reset takes along what was entered')
})

test('what is entered while a reset is under way is kept, and is saved after it', async (t) => {
  for (const isOwn of [false, true]) {
    const begun = held<void>()
    const reset = held<SettingValue>()
    const started = await startEditor(['a'], {
      isOwn,
      async reset({ key }) {
        begun.answer()
        const value = await reset.answered
        started.store.set(key, value)
        return value
      },
    })
    const { editor, store, enter, draftOf, definitionOf } = started
    const done = editor.reset(definitionOf('a'))
    await begun.answered
    enter('a', '1') // what is still stored
    const saved = editor.save()
    t.equal(draftOf('a')?.input, '1')
    reset.answer(valueOf('a', '0', 0))
    await Promise.all([done, saved])
    t.equal(store.get('a')?.value, '1')
    t.equal(editor.getState().drafts.size, 0)
    t.equal(editor.getState().failure, null)
  }
})

test('a preference whose save failed asks for another until it is saved', async (t) => {
  let isOnline = false
  const sent: string[] = []
  const started = await startEditor(['a', 'b', 'c'], {
    isOwn: true,
    async save(entries) {
      if (!isOnline) return { keys: [], saved: [], error: unanswered }
      sent.push(...entries.map(({ key }) => key))
      return {
        keys: entries.map(({ key }) => key),
        saved: entries.map(({ key, value, version }) => valueOf(key, value, version + 1)),
      }
    },
  })
  const { editor, enter, definitionOf } = started
  const asks = () => needsSave(editor.getState())
  enter('a', '2')
  t.notOk(asks(), 'leaving it saves it')
  await editor.commit('a')
  t.ok(asks())
  isOnline = true
  await editor.reset(definitionOf('b'))
  t.equal(editor.getState().failure, null)
  t.ok(asks(), 'also after something else went well')
  editor.discard()
  t.notOk(asks())
  editor.getState().announcement.undo?.()
  t.ok(asks(), 'also after it was discarded and came back')
  enter('b', 'being typed')
  enter('c', '3')
  await editor.commit('c')
  t.same(sent, ['a', 'c'], 'the next one that is saved takes it along, and nothing else')
  t.notOk(asks())
})

test('a change that another user has taken back is no conflict', async (t) => {
  const { editor, store, enter, draftOf, shown } = await startEditor(['a'])
  enter('a', 'mine')
  const before = store.get('a') ?? valueOf('a', '1', 1)
  store.set('a', valueOf('a', 'theirs', 7))
  await editor.refresh()
  t.equal(draftOf('a')?.theirs?.value, 'theirs')
  store.set('a', { ...before })
  await editor.refresh()
  t.same(draftOf('a'), { input: 'mine', errors: [] })
  editor.undo('a')
  t.equal(shown('a'), '1')
})

test('values that were read earlier replace neither what was read later nor what was saved since', async (t) => {
  const reads: ReturnType<typeof held<readonly SettingValue[]>>[] = []
  let isHeld = false
  const started = await startEditor(['a'], {
    values() {
      const read = held<readonly SettingValue[]>()
      reads.push(read)
      if (!isHeld) read.answer([valueOf('a', '1', 1)])
      return read.answered
    },
  })
  const { editor, enter, shown } = started
  isHeld = true
  const [early, late] = [editor.refresh(), editor.refresh()]
  reads[2]?.answer([valueOf('a', 'later', 3)])
  await late
  reads[1]?.answer([valueOf('a', 'earlier', 2)])
  await early
  t.equal(shown('a'), 'later')

  started.store.set('a', valueOf('a', 'later', 3))
  enter('a', 'saved')
  const load = editor.load()
  await editor.save()
  reads[3]?.answer([valueOf('a', 'later', 3)])
  await load
  t.equal(shown('a'), 'saved')
  t.equal(editor.getState().phase, 'ready')
})

test('a discarded draft that comes back is still one of the value it was entered over', async (t) => {
  const { editor, store, enter, draftOf } = await startEditor(['a'])
  enter('a', 'mine')
  editor.discard()
  const { undo } = editor.getState().announcement
  store.set('a', valueOf('a', 'theirs', 7))
  await editor.refresh()
  undo?.()
  await editor.save()
  t.equal(store.get('a')?.value, 'theirs')
  t.equal(draftOf('a')?.theirs?.value, 'theirs')
})

test('a preference to be confirmed is not saved by leaving it', async (t) => {
  const started = await startEditor(['a'], { isOwn: true })
  const { editor, store, enter, definitionOf } = started
  enter('a', '2')
  Object.assign(definitionOf('a'), { confirm: 'Sure?' })
  editor.leave(definitionOf('a'))
  await editor.commit('none')
  t.equal(store.get('a')?.value, '1')
  t.ok(needsSave(editor.getState()))
  await editor.save()
  t.equal(store.get('a')?.value, '2')
})
