import { test } from 'tap'
import { as, createApp } from '../support/app.ts'

test('a scope that is an object with hostile members, or a deep list, is 400 and never 500', async (t) => {
  const app = await createApp(t)
  const deep = `${'['.repeat(20_000)}2${']'.repeat(20_000)}`
  for (const scope of ['{"toString":1,"valueOf":1}', deep, '[2]', 'null', '2.5', '"2 "', '1e400']) {
    const body = `{"key":"app.title","value":"x","scope":${scope}}`
    for (const [path, text] of [
      ['', body],
      ['/bulk', `[${body}]`],
      ['/me', body],
    ] as const) {
      t.equal((await as(app, 'admin')('PUT', path, text)).status, 400, `${path} ${scope.slice(0, 30)}`)
    }
  }
})

test('a body of very many wrong entries is refused at once, with some of the errors', async (t) => {
  const app = await createApp(t)
  const body = `[${Array.from({ length: 200_000 }, () => '1').join(',')}]`
  const start = process.cpuUsage()
  const { status, json, text } = await as(app, 'alice')('PUT', '/bulk', body)
  const { user } = process.cpuUsage(start)
  t.equal(status, 400)
  t.equal(Object.keys(json.errors).length, 100)
  t.ok(text.length < 10_000)
  t.ok(user < 1_000_000, `it took ${user} µs of CPU`)
})

test('a revision that no database can hold is 400', async (t) => {
  const app = await createApp(t)
  for (const revision of ['1e300', '9007199254740992', '-1', '1.5']) {
    const body = `{"scope":1,"revision":${revision}}`
    t.equal((await as(app, 'admin')('POST', '/app.title/restore', body)).status, 400, revision)
  }
})

test('a request id that is not a string does not fail a write', async (t) => {
  let number = 0
  const genReqId = (): string => ++number as unknown as string // JavaScript hosts return numbers
  const app = await createApp(t, {}, { genReqId })
  t.equal((await as(app, 'admin')('PUT', '', { key: 'app.title', scope: 1, value: 'x' })).status, 204)
})

test('Prefer is understood as RFC 7240 writes it: quoted, in any case, among others', async (t) => {
  const app = await createApp(t)
  const put = (prefer: string) =>
    as(app, 'admin')('PUT', '', { key: 'app.title', scope: 1, value: prefer }, { prefer })
  for (const prefer of ['return="representation"', 'respond-async, Return=Representation; x=1']) {
    t.equal((await put(prefer)).status, 200, prefer)
  }
  for (const prefer of ['return=minimal', 'return', 'xreturn=representation', 'return=representations']) {
    t.equal((await put(prefer)).status, 204, prefer)
  }
})
