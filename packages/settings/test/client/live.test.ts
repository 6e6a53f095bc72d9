/** The live client: values as they change, for everybody who may see them. */
import { once } from 'node:events'
import { memoryStore, setting, settings, SettingScope, type SettingsOptions } from '@fastify-modular/settings'
import type { JsonValue } from '@fastify-modular/settings/client'
import { overrideSettings } from '@fastify-modular/settings/testing'
import { until } from '@fastify-modular/test-support/until'
import Fastify, { type FastifyInstance } from 'fastify'
import { type Test, test } from 'tap'
import { callerByHeader, definitions } from '../support/app.ts'
import { clientOf, follow, portOf, start } from '../support/live.ts'

const { Application, System, User } = SettingScope

test('a listener is called with the value at first, and with each change of it alone', async (t) => {
  const app = await start(t)
  const client = await clientOf(app)
  t.equal(client.state, 'connecting')
  const title = follow(t, client, 'app.title')
  await until(() => title.values.length > 0)
  t.same([title.values, client.state], [['Fastify Modular'], 'live'])
  const port: number[] = []
  t.teardown(client.watch(definitions.port, (value) => void port.push(value)))
  await until(() => port.length > 0)
  await app.settings.contract.setSetting('mail.port', 25, System)
  await until(() => port.length > 1)
  await app.settings.contract.setSetting('app.title', 'Acme', Application)
  await until(() => title.values.length > 1)
  t.same(
    [title.values, port],
    [
      ['Fastify Modular', 'Acme'],
      [587, 25],
    ],
  )
})

test('one stream carries everything that is watched, and ends when nothing is any more', async (t) => {
  let streams = 0
  let closed = 0
  const app = await start(t)
  const client = await clientOf(app, {
    fetch: async (...args: Parameters<typeof fetch>) => {
      if (String(args[0]).endsWith('/stream')) {
        streams++
        args[1]?.signal?.addEventListener('abort', () => closed++)
      }
      return fetch(...args)
    },
  })
  const followed = ['app.title', 'mail.port', 'app.title'].map((key) => follow(t, client, key))
  await until(() => followed.every(({ values }) => values.length === 1))
  t.equal(streams, 1)
  for (const { stop } of followed) stop()
  await until(() => closed === 1)
  const again = follow(t, client, 'app.banner')
  await until(() => again.values.length === 1)
  t.equal(streams, 2)
})

test('a long value is read although the stream has ended and goes on where it was', async (t) => {
  const app = await start(t)
  const long = 'x'.repeat(5000)
  await app.settings.contract.setSetting('app.banner', long, Application)
  let closed = 0
  const client = await clientOf(app, {
    fetch: async (...args: Parameters<typeof fetch>) => {
      if (String(args[0]).endsWith('/stream')) args[1]?.signal?.addEventListener('abort', () => closed++)
      return fetch(...args)
    },
  })
  const title = follow(t, client, 'app.title')
  await until(() => title.values.length === 1)
  title.stop()
  await until(() => closed === 1)
  const banner = follow(t, client, 'app.banner')
  await until(() => banner.values.length === 1)
  t.same(banner.values, [long])
})

test('a value of the application is not shown first where the caller has one of their own', async (t) => {
  const app = await start(t)
  await app.settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  const theme = follow(t, await clientOf(app), 'app.theme')
  await until(() => theme.values.length > 0)
  t.same(theme.values, ['dark'])
})

test('own values win over those of the application, and are followed, too', async (t) => {
  const app = await start(t, { selfService: true })
  const client = await clientOf(app)
  const theme = follow(t, client, 'app.theme')
  await until(() => theme.values.length === 1)
  await app.settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  await until(() => theme.values.length === 2)
  await app.settings.contract.setSetting('app.theme', 'system', Application)
  const title = follow(t, client, 'app.title')
  await app.settings.contract.setSetting('app.title', 'Acme', Application)
  await until(() => title.values.at(-1) === 'Acme')
  await app.settings.contract.deleteSetting('app.theme', User, 'alice')
  await until(() => theme.values.length === 3)
  t.same(theme.values, ['light', 'dark', 'system'])
})

test('a locked value is followed, wins over those of users, and gives way again', async (t) => {
  const app = await start(t)
  await app.settings.contract.setSetting('app.theme', 'dark', User, 'alice')
  const client = await clientOf(app)
  const [theme, title] = [follow(t, client, 'app.theme'), follow(t, client, 'app.title')]
  await until(() => theme.values.length + title.values.length === 2)
  const locked = overrideSettings(app, { 'app.theme': 'system', 'app.title': 'Acme' })
  await until(() => theme.values.length + title.values.length === 4)
  locked[Symbol.dispose]()
  await until(() => theme.values.length + title.values.length === 6)
  t.same(theme.values, ['dark', 'system', 'dark'])
  t.same(title.values, ['Fastify Modular', 'Acme', 'Fastify Modular'])
})

test('a long value is read when it is watched; a secret is null', async (t) => {
  const app = await start(t)
  const long = 'x'.repeat(5000)
  await app.settings.contract.setSetting('app.banner', long, Application)
  await app.settings.contract.setSetting('app.api_secret', 'hush', Application)
  const client = await clientOf(app)
  const [banner, secret] = [follow(t, client, 'app.banner'), follow(t, client, 'app.api_secret')]
  await until(() => banner.values.length + secret.values.length === 2)
  await app.settings.contract.setSetting('app.banner', `${long}!`, Application)
  await until(() => banner.values.length === 2)
  t.same([banner.values, secret.values], [[long, `${long}!`], [null]])
})

test('a long public value is read again after each change, and gives way to a short one', async (t) => {
  const text = setting.text('app.text', { displayName: 'Text', scope: Application, public: true })
  const app = await start(t, { definitions: [text] })
  const client = await clientOf(app, { public: true })
  const { values } = follow(t, client, 'app.text')
  const expected = [null, 'a'.repeat(5000), 'b'.repeat(5000), 'c']
  for (const [index, value] of expected.entries()) {
    if (value !== null) await app.settings.set(text, value)
    await until(() => values.length === index + 1)
  }
  t.same(values, expected)
})

test('visitors who are not signed in follow public settings', async (t) => {
  const app = await start(t)
  const client = await clientOf(app, { public: true, headers: {} })
  const [color, title] = [follow(t, client, 'app.primary_color'), follow(t, client, 'app.title')]
  await until(() => color.values.length === 1)
  await app.settings.contract.setSetting('app.title', 'Acme', Application)
  await app.settings.contract.setSetting('app.primary_color', '#000000', Application)
  await until(() => color.values.length === 2)
  t.same([color.values, title.values], [['#3b82f6', '#000000'], []])
})

test('a client finds the next server and what changed meanwhile', async (t) => {
  const store = memoryStore()
  const first = await start(t, { store })
  const port = portOf(first)
  const client = await clientOf(first)
  const title = follow(t, client, 'app.title')
  await until(() => title.values.length === 1)
  await first.close()
  await until(() => client.state === 'offline')
  const second = await listenAgain(t, { store }, port)
  await second.settings.contract.setSetting('app.title', 'Acme', Application)
  await until(() => title.values.length === 2 && client.state === 'live')
  t.same(title.values, ['Fastify Modular', 'Acme'])
})

async function listenAgain(t: Test, options: SettingsOptions, port: number): Promise<FastifyInstance> {
  const app = Fastify({ keepAliveTimeout: 100 })
  t.teardown(() => app.close())
  await app.register(settings, { definitions: [definitions], findCaller: callerByHeader, ...options })
  await app.listen({ port, host: '127.0.0.1' })
  return app
}

test('a listener of the state is called with each new one, until it is removed', async (t) => {
  const app = await start(t)
  const client = await clientOf(app)
  const [states, later]: [string[], string[]] = [[], []]
  t.teardown(client.onState((state) => void states.push(state)))
  const stop = client.onState((state) => void later.push(state))
  follow(t, client, 'app.title')
  await until(() => client.state === 'live')
  stop()
  await app.close()
  await until(() => client.state === 'offline')
  t.same([states, later], [['live', 'offline'], ['live']])
})

test('a listener is not called after it was removed, and one that is added twice is called twice', async (t) => {
  const app = await start(t)
  const client = await clientOf(app)
  const heard: string[] = []
  const listener = (value: JsonValue) => void heard.push(String(value))
  const first = client.watch('app.title', listener)
  t.teardown(client.watch('app.title', listener))
  await until(() => heard.length === 2)
  first()
  first()
  client.watch('app.title', () => t.fail('removed before it could be called'))()
  const port = follow(t, client, 'mail.port')
  await app.settings.contract.setSetting('app.title', 'Acme', Application)
  await app.settings.contract.setSetting('mail.port', 25, System)
  await until(() => port.values.at(-1) === 25)
  t.same(heard, ['Fastify Modular', 'Fastify Modular', 'Acme'])
})

test('a caller who signed out is not followed any more, and nothing of theirs is kept', async (t) => {
  const caller = { 'x-caller': 'alice' }
  const app = await start(t)
  const client = await clientOf(app, { headers: () => caller })
  const title = follow(t, client, 'app.title')
  await until(() => title.values.length === 1)
  caller['x-caller'] = 'nobody'
  app.settings.endStreams('alice')
  await until(() => client.state === 'offline')
  const later = follow(t, client, 'app.title')
  await once(app.server, 'request')
  t.same(later.values, [])
})

test('a caller who signed in again is followed again', async (t) => {
  const caller = { 'x-caller': 'nobody' }
  const app = await start(t)
  const client = await clientOf(app, { headers: () => caller })
  const title = follow(t, client, 'app.title')
  await until(() => client.state === 'offline')
  caller['x-caller'] = 'alice'
  const banner = follow(t, client, 'app.banner')
  await until(() => title.values.length + banner.values.length === 2)
})
