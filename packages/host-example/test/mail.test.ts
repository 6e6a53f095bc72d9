/** The settings of the mail server are tested against real ones before they are saved. */
import { freePort } from '@fastify-modular/test-support/free-port'
import { test } from 'tap'
import { startHost } from './host.js'
import { startSmtp } from './smtp.js'

test('the mail server is tested before its settings are saved', async (t) => {
  const host = await startHost(t)
  const admin = await host.signIn('admin')
  const probe = (drafts: Readonly<Record<string, unknown>>) =>
    admin.ask('/api/settings/resources/mail/probe', { method: 'POST', body: drafts })

  await t.test('a test says whether the server answers and takes the sign-in', async (t) => {
    const { port } = await startSmtp(t)
    const drafts = { 'mail.host': '127.0.0.1', 'mail.port': port, 'mail.user': 'app' }
    const right = await probe({ ...drafts, 'mail.password': 'right' })
    const works = { ok: true, message: 'The mail server answers.', requestId: null }
    t.same([right.status, right.json], [200, works])
    const wrong = await probe({ ...drafts, 'mail.password': 'a-wrong-password' })
    t.match(wrong.json, { ok: false, message: 'The mail server refused the sign-in.' })
    const nobody = await probe({ ...drafts, 'mail.port': await freePort(), 'mail.password': 'x' })
    t.match(nobody.json, { ok: false, message: 'The mail server did not answer.' })
    t.notMatch(host.log(), 'a-wrong-password')
  })

  await t.test('a stored password is shown to its own server alone', async (t) => {
    const [own, other] = await Promise.all([startSmtp(t), startSmtp(t)])
    const stored = { host: '127.0.0.1', port: own.port, user: 'app', password: 'right' }
    const body = Object.entries(stored).map(([name, value]) => ({ key: `mail.${name}`, scope: 0, value }))
    t.equal((await admin.ask('/api/settings/bulk', { method: 'PUT', body })).status, 204)
    t.match((await probe({})).json, { ok: true })
    t.same(own.shown, ['right'])
    const refused = await probe({ 'mail.port': other.port })
    t.equal(refused.status, 422)
    t.same(refused.json.errors, { 'mail.password': ['Enter the password again to test other values.'] })
    t.same(other.shown, [])
  })
})
