import { test } from 'tap'
import { startHost } from './host.js'

type Line = Readonly<Record<string, unknown>>

const auditLines = (log: string): Line[] =>
  log
    .split('\n')
    .filter((line) => line.startsWith('{"level"') && line.includes('"audit":'))
    .map((line) => JSON.parse(line) as Line)

test('the log tells auditors who did what, and holds no value, password or typed name', async (t) => {
  const host = await startHost(t)
  const attempt = (username: string) =>
    host.anonymous.ask('/login', { method: 'POST', body: { username, password: 'a wrong password' } })
  t.equal((await attempt('alice')).status, 401)
  t.equal((await attempt('typed by mistake')).status, 401)

  const admin = await host.signIn('admin')
  const put = (path: string, body: object) => admin.ask(path, { method: 'PUT', body })
  t.equal((await put('/api/settings', { key: 'app.title', scope: 1, value: 'A value' })).status, 204)
  t.equal((await put('/api/settings', { key: 'app.api_secret', scope: 1, value: 'A secret' })).status, 204)
  t.equal((await put('/api/settings/me', { key: 'app.theme', value: 'dark' })).status, 204)
  t.equal((await admin.ask('/api/settings/app.title?scope=1', { method: 'DELETE' })).status, 204)
  t.same(await host.stop('SIGTERM'), { code: 0, signal: null })

  const change = { audit: 'setting.change', actor: 'admin' }
  t.match(auditLines(host.log()), [
    { audit: 'app.start' },
    { audit: 'sign-in.failure', account: 'alice', address: '127.0.0.1' },
    { audit: 'sign-in.failure', account: null, address: '127.0.0.1' },
    { ...change, change: 'create', key: 'app.title', scope: 'Application', user: null },
    { ...change, change: 'create', key: 'app.api_secret', scope: 'Application' },
    { ...change, change: 'create', key: 'app.theme', scope: 'User', user: 'admin' },
    { ...change, change: 'delete', key: 'app.title' },
    { audit: 'app.drain' },
    { audit: 'app.stop' },
  ])
  t.notMatch(host.log(), /A value|A secret|"dark"|a wrong password|typed by mistake/)
})
