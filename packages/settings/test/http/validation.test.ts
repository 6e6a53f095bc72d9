import { test } from 'tap'
import { as, createApp } from '../support/app.ts'

const title = { key: 'app.title', scope: 1, value: 'Acme' }

test('decision 12: a body of the wrong shape is 400 with errors by field, without coercion', async (t) => {
  const app = await createApp(t)
  for (const [path, body, field] of [
    ['', { scope: 1, value: 1 }, 'key'],
    ['', { key: 5, scope: 1, value: 1 }, 'key'],
    ['', { key: 'app.title', value: 'x' }, 'scope'],
    ['', { key: 'app.title', scope: 9, value: 'x' }, 'scope'],
    ['', { key: 'app.title', scope: '1', value: 'x' }, 'scope'],
    ['', { key: 'app.title', scope: 'application ', value: 'x' }, 'scope'],
    ['', { key: 'app.title', scope: 1 }, 'value'],
    ['', { ...title, extra: true }, 'extra'],
    ['', [], 'body'],
    ['', null, 'body'],
    ['/bulk', {}, 'body'],
    ['/bulk', null, 'body'],
    ['/bulk', [title, { key: 'mail.port', scope: 0 }], '1.value'],
    ['/bulk', [{ ...title, version: -1 }], '0.version'],
    ['/bulk', [{ ...title, version: '1' }], '0.version'],
    ['/me', { key: 'app.theme' }, 'value'],
    ['/me', { key: 'app.theme', value: 'dark', scope: 1 }, 'scope'],
    ['/me', { key: 'app.theme', value: 'dark', userId: 'bob' }, 'userId'],
  ] as const) {
    const got = await as(app, 'admin')('PUT', path, body)
    const where = `${path} ${JSON.stringify(body)}`
    t.match(
      got,
      {
        status: 400,
        type: 'application/problem+json',
        json: { title: 'Validation Error', code: 'VALIDATION' },
      },
      where,
    )
    t.same(Object.keys(got.json.errors), [field], where)
    t.match(got.json.errors[field][0], /\.$/, where)
  }
})

test('S 4.1: a repeated row in a bulk is 400', async (t) => {
  const app = await createApp(t)
  const got = await as(app, 'admin')('PUT', '/bulk', [title, { ...title, value: 'Other' }])
  t.equal(got.status, 400)
})

test('S 7.3: values that break their definitions are 422 with errors by key, never repeated', async (t) => {
  const app = await createApp(t)
  const admin = as(app, 'admin')
  for (const [key, scope, value, message] of [
    ['system.maintenance_mode', 0, 'hunter2', /boolean/],
    ['app.support_email', 1, 'hunter2', /email/],
    ['app.primary_color', 1, 'hunter2', /hex/],
    ['mail.port', 0, 70000, /65535/],
    ['mail.port', 0, '587', /number/],
    ['app.title', 1, null, /required/],
    ['app.title', 1, ' ', /required/],
    ['app.theme', 1, 'hunter2', /one of/],
  ] as const) {
    const got = await admin('PUT', '', { key, scope, value })
    t.match(
      got,
      { status: 422, type: 'application/problem+json', json: { title: 'Validation Error', status: 422 } },
      key,
    )
    t.match(got.json.errors[key][0], message)
    t.notMatch(got.text, /hunter2/)
  }
  t.match((await admin('PUT', '/me', { key: 'user.preferred_density', value: 'giant' })).json.errors, {
    'user.preferred_density': [/one of/],
  })
  t.equal(app.settings.status.revision, 0, 'nothing was written')
})

test('decision 12: a bulk reports every broken and unknown key, and writes nothing', async (t) => {
  const app = await createApp(t)
  const got = await as(app, 'admin')('PUT', '/bulk', [
    title,
    { key: 'mail.port', scope: 0, value: 0 },
    { key: 'app.support_email', scope: 1, value: 'nobody' },
    { key: '__proto__', scope: 1, value: 1 },
    { key: 'no.such', scope: 0, value: 1 },
  ])
  t.equal(got.status, 422)
  t.same(Object.keys(got.json.errors).toSorted(), ['__proto__', 'app.support_email', 'mail.port', 'no.such'])
  t.same(got.json.errors['no.such'], ['Unknown setting.'])
  t.equal((await as(app, 'alice')('GET', '/app.title?scope=1')).json.isOverridden, false)
})

test('decision 11: more than 500 entries are 422, more than 512 KiB are 413', async (t) => {
  const app = await createApp(t)
  const admin = as(app, 'admin')
  const entries = Array.from({ length: 501 }, (_, index) => ({ key: `no.such${index}`, scope: 1, value: 1 }))
  t.match(await admin('PUT', '/bulk', entries), { status: 422, json: { errors: { bulk: [/500/] } } })
  const huge = JSON.stringify([{ ...title, value: 'x'.repeat(513 * 1024) }])
  t.match(await admin('PUT', '/bulk', huge), { status: 413, type: 'application/problem+json' })
  t.match(await admin('PUT', '', { ...title, value: 'x'.repeat(17 * 1024) }), { status: 422 })
  t.match(await admin('PUT', '', { ...title, value: 'a\0b' }), { status: 422 })
  t.match(await admin('PUT', '', '{"key":"app.title","scope":1,"value":"\\ud800"}'), { status: 422 })
})

test('malformed requests are problems: bad JSON 400, other media types 415', async (t) => {
  const app = await createApp(t)
  const admin = as(app, 'admin')
  t.match(await admin('PUT', '', '{ malformed'), {
    status: 400,
    type: 'application/problem+json',
    json: { status: 400 },
  })
  t.match(await admin('PUT', '', '{"__proto__":{"isAdmin":true},"key":"app.title","scope":1,"value":"x"}'), {
    status: 400,
  })
  const form = await app.inject({
    method: 'PUT',
    url: '/api/settings',
    headers: { 'x-caller': 'admin', 'content-type': 'application/xml' },
    payload: '<a/>',
  })
  t.equal(form.statusCode, 415)
  t.equal(form.headers['content-type'], 'application/problem+json')
})
