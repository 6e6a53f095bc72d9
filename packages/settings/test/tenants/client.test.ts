/** The client in an organisation: what it reads and writes there, and what it is refused. */
import { createSettingsClient, SettingScope, SettingsRequestError } from '@fastify-modular/settings/client'
import { type Test, test } from 'tap'
import { as, createApp, tokens } from './app.ts'

async function start(t: Test) {
  const app = await createApp(t, { findPeople: async (ids) => Object.fromEntries(ids.map((id) => [id, id])) })
  const baseUrl = `${await app.listen({ port: 0, host: '127.0.0.1' })}/api/settings`
  const clientOf = (caller: string, tenant?: string) =>
    createSettingsClient({ baseUrl, tenant, headers: { 'x-caller': caller } })
  return { app, clientOf }
}

async function failure(call: Promise<unknown>): Promise<SettingsRequestError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof SettingsRequestError) return error
  throw new Error('the call did not fail', { cause: error })
}

test('the client reads and writes the values of the organisation that it names', async (t) => {
  const { clientOf } = await start(t)
  const client = clientOf('ada', 'acme')
  const brand = { key: 'org.brand', value: 'Acme' }
  t.match(await client.previewTenantValues('acme', [brand]), [{ change: 'create', newValue: 'Acme' }])
  const [written] = await client.setTenantValues('acme', [{ ...brand, version: 0 }])
  t.match(written, { value: 'Acme', tenant: 'acme', source: 'tenant', scope: SettingScope.Tenant })
  const rows = await client.tenantValues()
  t.match(
    rows.map(({ key, value, inheritedValue, canWrite }) => [key, value, inheritedValue, canWrite]),
    [
      ['org.brand', 'Acme', 'None', true],
      ['org.limit', 'none', 'none', false],
      ['org.secret', null, null, true],
      ['user.theme', 'light', 'light', true],
    ],
  )
  t.match(await client.get('org.brand', SettingScope.Tenant), { value: 'Acme', tenant: 'acme' })
  t.match(await clientOf('bob', 'acme').mine({ all: true }), [{ key: 'org.brand', value: 'Acme' }])
  t.equal((await clientOf('bob', 'acme').mine()).length, 1)
  const version = written?.version ?? 0
  t.match(await client.resetTenantValue('acme', 'org.brand', { version }), {
    value: 'None',
    source: 'default',
  })
  const { entries } = await client.history('org.brand', { scope: SettingScope.Tenant })
  t.match(entries, [
    { newValue: null, actor: 'ada', tenant: 'acme' },
    { newValue: 'Acme', actor: 'ada' },
  ])
  const target = { scope: SettingScope.Tenant, revision: entries[1]?.revision ?? 0, tenant: 'acme' }
  t.match(await client.restore('org.brand', target, { version: 0 }), { value: 'Acme', tenant: 'acme' })
})

test('stale versions and another organisation are refused, and say what is there', async (t) => {
  const { app, clientOf } = await start(t)
  await app.settings.set(tokens.brand, 'Acme', { tenant: 'acme', actor: 'operator' })
  const client = clientOf('ada', 'acme')
  const brand = { key: 'org.brand', value: 'Ours', version: 0 }
  const stale = await failure(client.setTenantValues('acme', [brand]))
  t.match([stale.status, stale.code, stale.conflicts[0]?.key], [409, 'CONFLICT', 'org.brand'])
  t.match([stale.conflicts[0]?.updatedBy, stale.people], [null, {}], 'who is from outside has no name')
  t.equal((await failure(client.resetTenantValue('acme', 'org.brand', { version: 0 }))).status, 412)
  const elsewhere = clientOf('eve', 'bolt')
  for (const call of [
    (): Promise<unknown> => elsewhere.setTenantValues('acme', [{ key: 'org.brand', value: 'Bolt' }]),
    () => elsewhere.previewTenantValues('acme', [{ key: 'org.brand', value: 'Bolt' }]),
    () => elsewhere.resetTenantValue('acme', 'org.brand'),
    () => elsewhere.restore('org.brand', { scope: SettingScope.Tenant, revision: 1, tenant: 'acme' }),
  ])
    t.match(await failure(call()), { status: 409, code: 'TENANT_CHANGED' })
  t.match(await failure(clientOf('ada').tenantValues()), { status: 404 })
  t.match(await failure(clientOf('bob', 'acme').tenantValues()), { status: 403 })
})

test('a condition of a write is honoured, or refused, and the tag of a 412 counts the organisation', async (t) => {
  const { app } = await start(t)
  await app.settings.set(tokens.brand, 'Acme', { tenant: 'acme', actor: 'operator' })
  const ada = as(app, 'ada', 'acme')
  const brand = { key: 'org.brand', value: 'Acme', tenant: 'acme' }
  const tag = String((await ada('GET', '/org.brand?scope=3')).headers.etag)
  t.match(tag, /^"r\d+-acme"$/)
  const unset = { 'if-match': '"r0-acme"' }
  const refused = await ada('PUT', '/tenant', { ...brand, value: 'Ours' }, unset)
  t.match([refused.status, refused.headers.etag], [412, tag])
  t.equal((await ada('PUT', '/tenant', [brand], unset)).status, 400, 'of a list it is of no row')
  t.equal((await ada('PUT', '/tenant', { ...brand, version: 0 }, { 'if-match': tag })).status, 400)
  const prefer = { prefer: 'return=representation' }
  const equal = await ada('PUT', '/tenant', brand, { 'if-match': tag, ...prefer })
  t.match([equal.status, equal.headers.etag], [200, tag])
  t.equal(equal.json.updatedBy, null, 'an equal value leaves the writer, who is from outside')
})
