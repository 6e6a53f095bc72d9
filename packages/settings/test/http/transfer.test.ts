import { test } from 'tap'
import { as, createApp } from '../support/app.ts'

async function filled(t: Parameters<typeof createApp>[0]) {
  const app = await createApp(t)
  await as(app, 'admin')('PUT', '/bulk', [
    { key: 'mail.port', scope: 0, value: 25 },
    { key: 'app.title', scope: 1, value: 'Acme' },
    { key: 'app.theme', scope: 1, value: 'dark' },
    { key: 'app.api_secret', scope: 1, value: 'hunter2' },
  ])
  await as(app, 'admin')('PUT', '/me', { key: 'app.theme', value: 'system' })
  return app
}

test('an export has the stored shared values in a stable order, secrets by name only', async (t) => {
  const app = await filled(t)
  const file = await as(app, 'admin')('GET', '/export')
  t.same(file.json, {
    format: 1,
    settings: [
      { key: 'app.theme', scope: 1, value: 'dark' },
      { key: 'app.title', scope: 1, value: 'Acme' },
      { key: 'mail.port', scope: 0, value: 25 },
    ],
    omitted: ['app.api_secret'],
  })
  const editors = (await as(app, 'editor')('GET', '/export')).json
  t.same(
    editors.settings.map(({ key }: { key: string }) => key),
    ['app.theme', 'app.title'],
    'System rows are for administrators',
  )
})

test('an export is imported elsewhere, after a dry run that tells what changes', async (t) => {
  const file = (await as(await filled(t), 'admin')('GET', '/export')).json
  const app = await createApp(t)
  const admin = as(app, 'admin')
  await admin('PUT', '/bulk', [
    { key: 'app.title', scope: 1, value: 'Other' },
    { key: 'mail.port', scope: 0, value: 25 },
    { key: 'app.banner', scope: 1, value: 'stays' },
  ])
  const dry = await admin('POST', '/import?dryRun=true', file)
  const report = {
    create: ['app.theme'],
    update: ['app.title'],
    delete: [],
    unchanged: ['mail.port'],
    unknown: [],
  }
  t.same(dry.json, { ...report, revision: 1, dryRun: true })
  t.equal(app.settings.status.revision, 1)

  t.equal((await admin('POST', '/import?revision=0', file)).status, 409, 'not the revision of the dry run')
  t.same((await admin('POST', '/import?revision=1', file)).json, { ...report, revision: 2, dryRun: false })
  t.equal(app.settings.get('app.title'), 'Acme')
  t.equal(app.settings.get('app.banner'), 'stays')
})

test('mode=replace removes what the file does not have, except secrets and locked values', async (t) => {
  const app = await filled(t)
  const admin = as(app, 'admin')
  const file = { format: 1, settings: [{ key: 'app.title', scope: 'Application', value: 'New' }] }
  const editors = (await as(app, 'editor')('POST', '/import?mode=replace&dryRun=true', file)).json
  t.same(editors.delete, ['app.theme'], 'an editor removes no System rows')
  t.match((await admin('POST', '/import?mode=replace', file)).json, {
    update: ['app.title'],
    delete: ['app.theme', 'mail.port'],
  })
  t.equal(app.settings.get('app.api_secret'), 'hunter2')
})

test('an import is all or nothing, with every error by key', async (t) => {
  const app = await createApp(t)
  const admin = as(app, 'admin')
  const entry = (key: string, scope: number, value: unknown) => ({ key, scope, value })
  const bad = await admin('POST', '/import', {
    format: 1,
    settings: [entry('app.title', 1, 'ok'), entry('mail.port', 0, 0), entry('app.support_email', 1, 'x')],
  })
  t.match(bad, { status: 422, json: { errors: { 'mail.port': [String], 'app.support_email': [String] } } })
  t.equal(app.settings.status.revision, 0)
  t.match(
    (
      await admin('POST', '/import', {
        format: 1,
        settings: [entry('gone.away', 1, 1), entry('app.title', 1, 'ok')],
      })
    ).json,
    { unknown: ['gone.away'], create: ['app.title'] },
  )
  t.equal((await admin('POST', '/import', { format: 2, settings: [] })).status, 400)
  t.equal(
    (
      await admin('POST', '/import', {
        format: 1,
        settings: [entry('app.title', 1, 'a'), entry('app.title', 1, 'b')],
      })
    ).status,
    400,
  )
  t.equal(
    (await as(app, 'editor')('POST', '/import', { format: 1, settings: [entry('mail.port', 0, 25)] })).status,
    403,
  )
  t.equal((await as(app, 'alice')('POST', '/import', { format: 1, settings: [] })).status, 403)
})
