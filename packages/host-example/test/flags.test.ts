/** Flags over the OpenFeature Remote Evaluation Protocol, behind the gate and with the answers of the errors plugin. */
import { type Caller, defineModule, modules } from '@fastify-modular/core'
import { publicRoutes } from '@fastify-modular/public-routes'
import { settings } from '@fastify-modular/settings'
import { ofrep, type OfrepOptions } from '@fastify-modular/settings/openfeature'
import Fastify, { type FastifyInstance } from 'fastify'
import { test } from 'tap'
import { type Person, startHost } from './host.js'

const path = '/ofrep/v1/evaluate/flags'
const key = 'app.feature_json'

function evaluate(person: Person, url: string, context: object = {}, headers: Record<string, string> = {}) {
  return person.ask(url, { method: 'POST', body: { context }, headers })
}

test('flags of the example', async (t) => {
  const host = await startHost(t)
  const [admin, alice] = await Promise.all([host.signIn('admin'), host.signIn('alice')])

  await t.test('callers who are signed in get the flag, alone and in the bulk, as it is now', async (t) => {
    const flag = { key, value: { search: true, sharing: true }, reason: 'DEFAULT' }
    const value = { search: false, sharing: true }
    t.match(await evaluate(alice, `${path}/${key}`), { status: 200, json: flag })
    const bulk = await evaluate(alice, path)
    t.match(bulk, { status: 200, json: { flags: [flag] } })
    const tag = { 'if-none-match': String(bulk.headers.get('etag')) }
    t.equal((await evaluate(alice, path, {}, tag)).status, 304)
    t.equal((await evaluate(admin, path, {}, tag)).status, 200)
    await admin.ask('/api/settings', { method: 'PUT', body: { key, scope: 1, value } })
    t.match(await evaluate(alice, path, {}, tag), { status: 200, json: { flags: [{ key, value }] } })
    await admin.ask(`/api/settings/${key}?scope=1`, { method: 'DELETE' })
  })

  await t.test('failures are problem details with the members of the protocol', async (t) => {
    for (const [url, context, status, errorCode] of [
      [`${path}/app.title`, {}, 404, 'FLAG_NOT_FOUND'],
      [`${path}/${key}`, { targetingKey: 5 }, 400, 'INVALID_CONTEXT'],
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

test('inside a module, flags need what the module asks of its routes, or more by their own option', async (t) => {
  const boot = async (access: string, options: OfrepOptions) => {
    const app = Fastify()
    t.teardown(() => app.close())
    const people: Record<string, Caller> = {
      stranger: { id: 'stranger' },
      member: { id: 'member', permissions: ['Org.Read'] },
      both: { id: 'both', permissions: ['Org.Read', 'Flags.Read'] },
    }
    await app.register(publicRoutes, {
      provider: { authenticate: ({ headers }) => people[String(headers['x-user'])] ?? null },
      permissions: { 'Org.Read': 'Read organisations', 'Flags.Read': 'Read flags' },
      undeclared: 'refuse',
    })
    await app.register(settings)
    const plugin = async (scope: FastifyInstance) => {
      await scope.register(ofrep, {
        prefix: '/orgs/:org',
        findCaller: () => ({ id: 'org:globex' }),
        ...options,
      })
    }
    await app.register(modules, { modules: [defineModule({ name: 'org', access, plugin })] })
    await app.ready()
    const url = '/orgs/globex/ofrep/v1/evaluate/flags'
    const row = app.access.table().find((each) => each.url.endsWith('/flags') && each.method === 'POST')
    const statuses = []
    for (const user of ['nobody', 'stranger', 'member', 'both'])
      statuses.push(
        (await app.inject({ method: 'POST', url, headers: { 'x-user': user }, body: {} })).statusCode,
      )
    return [row?.access, row?.why, statuses.join()]
  }
  const ofModule = 'access of module "org"'
  const ofOption = 'option access of the plugin at /orgs/:org'
  t.same(await boot('Org.Read', {}), ['Org.Read', ofModule, '401,403,200,200'])
  t.same(await boot('public', {}), ['signed-in', 'route config', '401,200,200,200'])
  t.same(await boot('signed-in', { access: 'Flags.Read' }), ['Flags.Read', ofOption, '401,403,403,200'])
  const both = await boot('Org.Read', { access: 'Flags.Read' })
  t.same(both, ['Flags.Read and Org.Read', `${ofOption} and ${ofModule}`, '401,403,403,200'])
  await t.rejects(boot('Org.Read', { access: 'public' }), { code: 'FMOD_PUBLIC_ROUTES_INVALID_ACCESS' })
})

test('the option access of flags needs a gate and a value', async (t) => {
  for (const options of [{ access: 'Flags.Read' }, { access: undefined }, { access: 7 }] as object[]) {
    const app = Fastify()
    t.teardown(() => app.close())
    await app.register(settings)
    await t.rejects(async () => app.register(ofrep, options), { code: 'FMOD_CORE_INVALID_OPTION' })
  }
})

test('the gate lists the permission to evaluate for others, and one that nobody declares stops the boot', async (t) => {
  for (const isDeclared of [true, false]) {
    const app = Fastify()
    t.teardown(() => app.close())
    const permissions = isDeclared ? { 'Flags.Evaluate': 'Evaluate flags' } : {}
    await app.register(publicRoutes, { provider: { authenticate: () => null }, permissions })
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
