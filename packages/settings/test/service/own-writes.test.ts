/** Own writes and the memory that reads them, while the database answers in another order. */
import { setTimeout } from 'node:timers/promises'
import { SettingScope } from '@fastify-modular/settings'
import { type Test, test } from 'tap'
import { createApp, definitions } from '../support/app.ts'
import { changedStore } from '../support/changed-store.ts'
import { memoryStore } from '../support/stores.js'

const { Application } = SettingScope

/** An application and another one on the same store. The test holds answers of the first. */
async function createTwo(t: Test) {
  const inner = memoryStore()
  const held: { read?: Promise<void>; write?: Promise<void>; news?: Promise<void> } = {}
  const store = changedStore(inner, {
    shared: {
      async read() {
        const answer = await inner.shared.read()
        await held.read
        return answer
      },
      async news(after, limit) {
        const answer = await inner.shared.news(after, limit)
        await held.news
        return answer
      },
    },
    async write(request, write) {
      const answer = await write(request)
      await held.write
      return answer
    },
    close: async () => {},
  })
  const here = await createApp(t, { store })
  const there = await createApp(t, { store: changedStore(inner, { close: async () => {} }) })
  function hold(call: keyof typeof held): () => void {
    let release = (): void => {}
    held[call] = new Promise((resolve) => (release = resolve))
    return () => {
      delete held[call]
      release()
    }
  }
  return { here, there, inner, hold }
}

test('a value that was written is not lost by a read of everything that was answered late', async (t) => {
  const { here, hold } = await createTwo(t)
  const seen: unknown[] = []
  here.settings.on('app.title', (value) => void seen.push(value))
  const release = hold('read')
  const refreshed = here.settings.refresh()
  await setTimeout(50)
  await here.settings.contract.setSetting('app.title', 'new', Application)
  t.equal(here.settings.get(definitions.title), 'new')
  release()
  await refreshed
  t.equal(here.settings.get(definitions.title), 'new')
  await here.settings.refresh()
  t.same(seen, ['new'])
})

test('a write that ends after closing is in memory', async (t) => {
  const { here, there, hold } = await createTwo(t)
  await there.settings.contract.setSetting('app.banner', 'before', Application)
  const release = hold('write')
  const written = here.settings.contract.setSetting('app.title', 'new', Application)
  await setTimeout(50)
  await here.close()
  release()
  await written
  t.equal(here.settings.get(definitions.title), 'new')
})
