import { ServiceUnavailableException } from '@fastify-modular/core'
import { SettingScope } from '@fastify-modular/settings'
import { test } from 'tap'
import { createApp, definitions, rejection } from '../support/app.ts'
import { changedStore } from '../support/changed-store.ts'
import { memoryStore } from '../support/stores.js'

const { Application, User } = SettingScope

/** A store whose commits are not answered. */
async function createWithoutAnswers(t: Parameters<typeof createApp>[0]) {
  const inner = memoryStore()
  const calls = { enqueue: 0 }
  const state = { answers: true }
  const store = changedStore(inner, {
    async write(request, write) {
      if (request.enqueue) calls.enqueue++
      const written = await write(request)
      if (!state.answers) throw new ServiceUnavailableException('The answer of the database was lost.')
      return written
    },
  })
  return { app: await createApp(t, { store }), calls, state }
}

test('a commit whose answer was lost reaches memory', async (t) => {
  const { app, state } = await createWithoutAnswers(t)
  await app.settings.forUser('alice')
  state.answers = false
  t.match(await rejection(app.settings.contract.setSetting('app.title', 'kept', Application)), {
    status: 503,
  })
  t.match(await rejection(app.settings.contract.setSetting('app.theme', 'dark', User, 'alice')), {
    status: 503,
  })
  await app.settings.refresh() // joins the catching up that runs already
  t.equal(app.settings.get('app.title'), 'kept')
  t.equal((await app.settings.forUser('alice')).get(definitions.theme), 'dark')
  t.equal(app.settings.status.revision, 1)
})

test('without events a store does not wait for them between the rows and the commit', async (t) => {
  const { app, calls } = await createWithoutAnswers(t)
  await app.settings.contract.setSetting('app.title', 'one', Application)
  t.equal(calls.enqueue, 0)
})
