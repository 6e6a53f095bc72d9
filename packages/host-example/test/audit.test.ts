import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { memoryStore, setting, settings, SettingScope, type SettingsOptions } from '@fastify-modular/settings'
import { ofrep } from '@fastify-modular/settings/openfeature'
import Fastify from 'fastify'
import { test, type Test } from 'tap'
import { formOf, startHost } from './host.js'

const { Application, User } = SettingScope

type Line = Readonly<Record<string, unknown>>

/** In the order of their times: on a busy machine the last two were once seen the other way round in the pipe. */
const auditLines = (log: string): Line[] =>
  log
    .split('\n')
    .filter((line) => line.startsWith('{"level"') && line.includes('"audit":'))
    .map((line) => JSON.parse(line) as Line)
    .toSorted((a, b) => Number(a['time']) - Number(b['time']))

const change = { audit: 'setting.change', actor: 'admin' }
const linesOfHost: readonly Line[] = [
  { audit: 'app.start' },
  { audit: 'sign-in.failure', address: '127.0.0.1' },
  { audit: 'sign-in.failure', address: '127.0.0.1' },
  { ...change, change: 'create', key: 'app.title', scope: 'Application', user: null },
  { ...change, change: 'create', key: 'app.api_secret', scope: 'Application' },
  { ...change, change: 'create', key: 'app.theme', scope: 'User', user: 'admin' },
  { ...change, change: 'delete', key: 'app.title' },
  { audit: 'app.drain' },
  { audit: 'app.stop' },
]
const linesOfSettings: readonly Line[] = [
  { audit: 'settings.reencrypt', reencrypted: 1, history: 1, unreadable: [] },
  { audit: 'settings.erase', user: /^[\w-]{11}$/, values: 1, history: 1, mentions: 0, complete: true },
  { audit: 'flags.evaluate', actor: 'service', user: 'bob' },
]

test('the log tells auditors who did what, and holds no value, password or typed name', async (t) => {
  const host = await startHost(t)
  const attempt = (user: string) =>
    host.anonymous.ask('/login', formOf({ user, password: 'a wrong password' }))
  t.equal((await attempt('alice')).status, 401)
  t.equal((await attempt('typed by mistake')).status, 401)

  const admin = await host.signIn('admin')
  const put = (path: string, body: object) => admin.ask(path, { method: 'PUT', body })
  t.equal((await put('/api/settings', { key: 'app.title', scope: 1, value: 'A value' })).status, 204)
  t.equal((await put('/api/settings', { key: 'app.api_secret', scope: 1, value: 'A secret' })).status, 204)
  t.equal((await put('/api/settings/me', { key: 'app.theme', value: 'dark' })).status, 204)
  t.equal((await admin.ask('/api/settings/app.title?scope=1', { method: 'DELETE' })).status, 204)
  t.same(await host.stop('SIGTERM'), { code: 0, signal: null })

  t.match(auditLines(host.log()), linesOfHost)
  t.notMatch(host.log(), /A value|A secret|"dark"|a wrong password|typed by mistake/)
})

test('the log tells auditors of secrets encrypted anew and of an erased user, and holds neither', async (t) => {
  const store = memoryStore()
  const { app: plain } = await startSettings(t, { store })
  await plain.settings.set('x.secret', 'A secret')
  await plain.settings.set('x.choice', 'A choice', { userId: 'mallory' })

  const keys = [{ id: 'one', key: randomBytes(32) }]
  const { app, log } = await startSettings(t, { store, encryption: { keys } })
  await app.settings.reencrypt()
  await app.settings.eraseUser('mallory')
  await app.inject({
    method: 'POST',
    url: '/ofrep/v1/evaluate/flags',
    payload: { context: { targetingKey: 'bob' } },
  })
  t.match(auditLines(log()), linesOfSettings)
  t.equal(auditLines(log()).length, linesOfSettings.length)
  t.notMatch(log(), /A secret|A choice|mallory/)
})

test('the guide lists the lines for auditors, all of them and no others', async (t) => {
  const guide = await readFile(new URL('../../../docs/guides/observability.md', import.meta.url), 'utf8')
  const [, table = ''] = guide.split('| `audit` |')
  const listed = Array.from(table.matchAll(/^\| `([\w.-]+)` \|/gm), ([, name]) => name)
  const logged = [...linesOfHost, ...linesOfSettings].map(({ audit }) => audit)
  t.same(new Set(listed), new Set(logged))
})

/** An application with two settings, and what it has logged. */
async function startSettings(t: Test, options: SettingsOptions) {
  const lines: string[] = []
  const app = Fastify({ logger: { level: 'info', stream: { write: (line) => void lines.push(line) } } })
  t.teardown(() => app.close())
  const secret = setting.text('x.secret', { displayName: 'Secret', scope: Application, sensitive: true })
  const choice = setting.text('x.choice', { displayName: 'Choice', scope: User })
  await app.register(settings, { ...options, definitions: [secret, choice] })
  const service = { id: 'service', permissions: ['Flags.Evaluate'] }
  await app.register(ofrep, { findCaller: () => service, evaluateForOthers: 'Flags.Evaluate' })
  await app.ready()
  return { app, log: () => lines.join('') }
}
