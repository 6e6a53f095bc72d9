/** Flags over the OpenFeature Remote Evaluation Protocol, behind the gate and with the answers of the errors plugin. */
import { publicRoutes } from '@fastify-modular/public-routes'
import { settings } from '@fastify-modular/settings'
import { ofrep } from '@fastify-modular/settings/openfeature'
import Fastify from 'fastify'
import { test } from 'tap'
import { type Person, startHost } from './host.js'

const path = '/ofrep/v1/evaluate/flags'
const key = 'system.registration_enabled'

function evaluate(person: Person, url: string, context: object = {}, headers: Record<string, string> = {}) {
  return person.ask(url, { method: 'POST', body: { context }, headers })
}

test('flags of the example', async (t) => {
  const host = await startHost(t)
  const [admin, alice] = await Promise.all([host.signIn('admin'), host.signIn('alice')])

  await t.test('callers who are signed in get the flag, alone and in the bulk, as it is now', async (t) => {
    const flag = { key, value: false, reason: 'DEFAULT' }
    t.match(await evaluate(alice, `${path}/${key}`), { status: 200, json: flag })
    const bulk = await evaluate(alice, path)
    t.match(bulk, { status: 200, json: { flags: [flag] } })
    const tag = { 'if-none-match': String(bulk.headers.get('etag')) }
    t.equal((await evaluate(alice, path, {}, tag)).status, 304)
    t.equal((await evaluate(admin, path, {}, tag)).status, 200)
    await admin.ask('/api/settings', { method: 'PUT', body: { key, scope: 0, value: true } })
    t.match(await evaluate(alice, path, {}, tag), { status: 200, json: { flags: [{ key, value: true }] } })
    await admin.ask(`/api/settings/${key}?scope=0`, { method: 'DELETE' })
  })

  await t.test('failures are problem details with the members of the protocol', async (t) => {
    for (const [url, context, status, errorCode] of [
      [`${path}/app.title`, {}, 404, 'FLAG_NOT_FOUND'],
      [`${path}/${key}`, { targetingKey: 5 }, 400, 'INVALID_CONTEXT'],
      [path, { targetingKey: '' }, 400, 'INVALID_CONTEXT'],
      [path, { targetingKey: 'bob' }, 403, undefined],
    ] as const) {
      const { headers, json, ...answer } = await evaluate(alice, url, context)
      t.equal(headers.get('content-type'), 'application/problem+json')
      t.match(headers.get('cache-control'), 'no-store')
      t.match({ ...answer, json }, { status, json: { status, detail: /./, requestId: /./ } }, url)
      t.same(
        [json.errorCode, json.errorDetails],
        errorCode ? [errorCode, json.detail] : [undefined, undefined],
      )
    }
    const { status, json } = await alice.ask(path, {
      method: 'POST',
      headers: { 'content-type': 'text/xml' },
    })
    t.match([status, json], [400, { status: 400, errorCode: 'PARSE_ERROR' }])
  })

  await t.test('strangers are answered by the gate', async (t) => {
    for (const url of [path, `${path}/${key}`])
      t.match(await evaluate(host.anonymous, url), { status: 401, json: { code: 'UNAUTHORIZED' } })
  })
})

test('the gate lists the permission to evaluate for others, and one that nobody declares stops the boot', async (t) => {
  for (const isDeclared of [true, false]) {
    const app = Fastify()
    t.teardown(() => app.close())
    await app.register(publicRoutes, { provider: { authenticate: () => null } })
    if (isDeclared) app.permissions.add('Flags.Evaluate')
    await app.register(settings)
    await app.register(ofrep, { evaluateForOthers: 'Flags.Evaluate' })
    if (!isDeclared) {
      await t.rejects(async () => app.ready(), { code: 'FMOD_PUBLIC_ROUTES_UNKNOWN_PERMISSION' })
      continue
    }
    await app.ready()
    const rows = app.access.table().filter(({ url }) => url.startsWith('/ofrep/'))
    const checked = { method: 'POST', access: 'signed-in', checkedByHandler: 'Flags.Evaluate' }
    t.match(rows, [
      { url: '/ofrep/v1/evaluate/flags', ...checked },
      { url: '/ofrep/v1/evaluate/flags/:key', ...checked },
    ])
  }
})
