import { createHmac } from 'node:crypto'
import { test } from 'tap'
import { startHost } from './host.js'

test('notes', async (t) => {
  const host = await startHost(t)
  const [alice, bob, admin] = await Promise.all(['alice', 'bob', 'admin'].map((name) => host.signIn(name)))
  if (!alice || !bob || !admin) throw new Error('Nobody signed in')
  const add = async (title = 'A note', body = 'Text') =>
    (await alice.ask('/api/notes', { method: 'POST', body: { title, body } })).json

  await t.test('a note is added, found, listed, changed and removed by its owner', async (t) => {
    const created = await alice.ask('/api/notes', { method: 'POST', body: { title: 'First', body: 'Hello' } })
    t.equal(created.status, 201)
    const path = created.headers.get('location') ?? ''
    t.equal(path, `/api/notes/${created.json.id}`)
    t.match(created.json, { owner: 'alice', title: 'First', body: 'Hello', isShared: false, version: 1 })
    t.same((await alice.ask(path)).json, created.json)
    t.same((await alice.ask('/api/notes')).json, [created.json])
    const changed = await alice.ask(path, { method: 'PATCH', body: { title: 'Second', version: 1 } })
    t.match(changed.json, { title: 'Second', body: 'Hello', version: 2 })
    t.equal((await alice.ask(path, { method: 'DELETE' })).status, 204)
    const gone = await alice.ask(path)
    t.equal(gone.status, 404)
    t.equal(gone.json.title, 'Resource not found')
  })

  await t.test('others get 403, an administrator everything', async (t) => {
    const { id } = await add()
    for (const ask of [{}, { method: 'PATCH', body: { title: 'Mine' } }, { method: 'DELETE' }]) {
      const answer = await bob.ask(`/api/notes/${id}`, ask)
      t.equal(answer.status, 403)
      t.equal(answer.json.code, 'FORBIDDEN')
    }
    t.equal((await bob.ask(`/api/notes/${id}/share`, { method: 'POST' })).status, 403)
    t.same((await bob.ask('/api/notes')).json, [])
    t.equal(
      (await admin.ask(`/api/notes/${id}`, { method: 'PATCH', body: { title: 'Checked' } })).json.title,
      'Checked',
    )
    t.match((await admin.ask('/api/notes')).json, [{ id, owner: 'alice' }])
    t.equal((await admin.ask(`/api/notes/${id}`, { method: 'DELETE' })).status, 204)
  })

  await t.test('a change based on a stale version is a conflict and changes nothing', async (t) => {
    const { id } = await add()
    const change = (title: string) =>
      alice.ask(`/api/notes/${id}`, { method: 'PATCH', body: { title, version: 1 } })
    const answers = await Promise.all(['A', 'B', 'C'].map(change))
    t.same(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 409, 409],
    )
    const conflict = answers.find(({ status }) => status === 409)
    t.match(conflict?.json, { code: 'CONFLICT', title: 'Conflict', status: 409 })
    const winner = answers.find(({ status }) => status === 200)
    t.same((await alice.ask(`/api/notes/${id}`)).json, winner?.json)
  })

  await t.test('what is malformed gets 400 and changes nothing', async (t) => {
    const { id, ...before } = await add('Stays')
    const bodies = [
      {},
      { title: '' },
      { title: ' ' },
      { title: 7 },
      { title: 'x', owner: 'bob' },
      { title: 'x'.repeat(201) },
      { title: 'a\0b' },
      { title: 'x', body: 'half a pair: \ud83d' },
      [],
      null,
    ]
    for (const body of bodies) {
      const answer = await alice.ask('/api/notes', { method: 'POST', body })
      t.equal(answer.status, 400, JSON.stringify(body)?.slice(0, 40))
      t.match(answer.headers.get('content-type'), /^application\/problem\+json/)
    }
    for (const body of [{ version: 'x' }, { version: 0 }, { body: 'x'.repeat(20_001) }, { isShared: true }]) {
      t.equal(
        (await alice.ask(`/api/notes/${id}`, { method: 'PATCH', body })).status,
        400,
        JSON.stringify(body).slice(0, 40),
      )
    }
    t.same((await alice.ask(`/api/notes/${id}`)).json, { id, ...before })
    for (const page of ['0', '-1', 'x', '1e9', '9999999']) {
      t.equal((await alice.ask(`/api/notes?page=${page}`)).status, 400, page)
    }
    t.same((await alice.ask('/api/notes?page=2')).json, [])
  })

  await t.test(
    'S 5.6: a shared note is read without signing in; PATCH, POST and DELETE on its path stay 401',
    async (t) => {
      const { id } = await add('Public', 'For all')
      const path = `/api/notes/${id}/share`
      t.equal((await host.anonymous.ask(path)).status, 404)
      t.equal((await alice.ask(path, { method: 'POST' })).json.isShared, true)
      const read = await host.anonymous.ask(path)
      t.equal(read.status, 200)
      t.match(read.json, { id, owner: 'alice', title: 'Public', body: 'For all' })
      t.equal(read.json.version, undefined)
      for (const method of ['PATCH', 'POST', 'DELETE', 'PUT']) {
        t.equal((await host.anonymous.ask(path, { method })).status, 401, method)
      }
      for (const hidden of [
        `/api/notes/${id}`,
        '/api/notes',
        `${path}/x`,
        `/x${path}`,
        `/api/notes/a/b/share`,
      ]) {
        t.equal((await host.anonymous.ask(hidden)).status, 401, hidden)
      }
      t.equal((await alice.ask(path, { method: 'DELETE' })).status, 204)
      t.equal((await host.anonymous.ask(path)).status, 404)
      t.equal((await host.anonymous.ask('/api/notes/unknown/share')).status, 404)
    },
  )

  await t.test(
    'F-41: a removed note is restored by its owner or an administrator, and by nobody else',
    async (t) => {
      const note = await add('Removed by mistake')
      const path = `/api/notes/${note.id}`
      t.equal((await alice.ask(`${path}/restore`, { method: 'POST' })).status, 404, 'it is not removed')
      await alice.ask(path, { method: 'DELETE' })
      t.equal((await bob.ask(`${path}/restore`, { method: 'POST' })).status, 403)
      t.equal((await host.anonymous.ask(`${path}/restore`, { method: 'POST' })).status, 401)
      t.same((await alice.ask(`${path}/restore`, { method: 'POST' })).json, note)
      t.same((await alice.ask(path)).json, note)
      await alice.ask(path, { method: 'DELETE' })
      t.equal((await admin.ask(`${path}/restore`, { method: 'POST' })).status, 200)
    },
  )

  await t.test('F-35: a shared note is signed while the API secret has a value', async (t) => {
    const { id } = await add('Grüße “an alle”', 'Zeile\n\tzwei </script> ☃')
    const path = `/api/notes/${id}/share`
    await alice.ask(path, { method: 'POST' })
    t.equal((await host.anonymous.ask(path)).headers.get('x-signature'), null)
    const body = { key: 'app.api_secret', scope: 1, value: 'hush' }
    await admin.ask('/api/settings', { method: 'PUT', body })
    const { text, headers } = await host.anonymous.ask(path)
    const expected = createHmac('sha256', 'hush').update(text).digest('hex')
    t.equal(headers.get('x-signature'), `sha256=${expected}`)
  })

  await t.test('S 6: sharing publishes notes.shared, which the module mail handles once', async (t) => {
    const { id } = await add('Tell me')
    await alice.ask(`/api/notes/${id}/share`, { method: 'POST' })
    await alice.ask(`/api/notes/${id}/share`, { method: 'POST' })
    const mails = async () =>
      (await admin.ask('/api/mails')).json.filter((mail: { subject: string }) =>
        mail.subject.includes('Tell me'),
      )
    for (let tries = 0; tries < 50 && (await mails()).length === 0; tries += 1) {
      // each round is a request: the handler runs between them
    }
    t.match(await mails(), [{ recipient: 'alice', subject: 'Everybody can read your note “Tell me” now' }])
    t.match((await alice.ask('/api/mails')).json, {
      status: 403,
      detail: 'This needs the permission Mails.Read.',
    })
    t.equal((await host.anonymous.ask('/api/mails')).status, 401)
  })
})

test('a page of notes holds 100; the rest is on the next one', async (t) => {
  const host = await startHost(t)
  const alice = await host.signIn('alice')
  for (let added = 0; added < 101; added += 1) {
    await alice.ask('/api/notes', { method: 'POST', body: { title: `Note ${added}` } })
  }
  const [first, second] = await Promise.all([alice.ask('/api/notes'), alice.ask('/api/notes?page=2')])
  t.equal(first.json.length, 100)
  t.equal(second.json.length, 1)
  t.equal(new Set([...first.json, ...second.json].map(({ id }) => id)).size, 101)
  t.match(
    (await alice.ask('/notes?page=2', { headers: { accept: 'text/html' } })).text,
    /"page":2,"perPage":100/,
  )
  t.equal((await alice.ask('/notes?page=x')).status, 400)
})
