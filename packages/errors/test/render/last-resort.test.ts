import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NotFoundException, ValidationException } from '@fastify-modular/core'
import { type Test, test } from 'tap'
import { loadErrorPage } from '#src/error-page.js'
import { createApp, renderBy, throwing } from '../support/app.js'
import { hostileValues } from '../support/hostile.js'
import { browserHeaders, builtInPage, inertiaHeaders, problemOf } from '../support/expect.js'

const own =
  '<!doctype html><title>Ours</title><style>body { background: url(data:image/gif;base64,R0) }</style><h1>Sorry</h1>'

async function withFile(t: Test, content: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'error-page-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'error.html')
  await writeFile(file, content)
  return file
}

const failing = renderBy(() => Promise.reject(new Error('secret view')))

test('S 7.2.3, E74: when rendering fails, the static page is written with 500', async (t) => {
  const errorPage = await withFile(t, own)
  for (const before of [
    failing,
    renderBy(throwing(new Error('secret view'))),
    renderBy(async () => ({}) as never),
  ]) {
    const { app, failures } = await createApp(t, { errors: { errorPage }, before })
    for (const headers of [{}, inertiaHeaders]) {
      const answer = await app.inject({ url: '/nope', headers })
      t.equal(answer.statusCode, 500)
      t.equal(answer.headers['content-type'], 'text/html; charset=utf-8')
      t.equal(answer.headers['cache-control'], 'no-store')
      t.match(answer.headers['content-security-policy'], "default-src 'none'")
      t.equal(answer.headers['x-inertia'], undefined)
      t.equal(answer.body, own)
    }
    t.equal(failures().length, 2, 'one record each')
    t.match(failures()[0], { level: 50, err: { message: /.+/ } })
  }
})

test('a thrown error whose page cannot be rendered is logged together with the reason', async (t) => {
  const { app, log } = await createApp(t, {
    before: failing,
    after: (it) =>
      it.get('/', () => {
        throw Object.assign(new Error('the first failure'), {
          statusCode: 503,
          headers: { 'retry-after': '7' },
        })
      }),
  })
  const answer = await app.inject({ url: '/', headers: inertiaHeaders })
  t.equal(answer.statusCode, 500)
  t.equal(answer.headers['retry-after'], '7')
  t.match(log, [{}, { err: { message: 'secret view' }, original: { message: 'the first failure' } }, {}])
})

test('E75: a renderer that never ends is given up', async (t) => {
  const { app } = await createApp(t, {
    before: renderBy(() => new Promise(() => {})),
  })
  const answer = await app.inject('/nope')
  t.equal(answer.statusCode, 500)
  t.equal(answer.body, builtInPage)
})

test('an adapter that never keeps the errors of a form is given up: the answer is the page', async (t) => {
  const { app } = await createApp(t, {
    before: (it) => {
      const render = async () => ({ body: 'the page', contentType: 'text/html' })
      it.decorate('inertia', {
        render,
        keepErrors: () => new Promise(() => {}),
        version: () => 'v1',
      } as never)
    },
    after: (it) => it.post('/', throwing(new ValidationException({ title: ['is missing'] }))),
  })
  const answer = await app.inject({ method: 'POST', url: '/', headers: inertiaHeaders })
  t.same([answer.statusCode, answer.body], [400, 'the page'])
})

test('E76: an error page that cannot be used gives a warning, and the built-in one stands in', async (t) => {
  const files = {
    'does not exist': 'missing/error.html',
    'cannot be read (EISDIR)': '.',
    'is empty': await withFile(t, ''),
    'is larger than 256 KiB': await withFile(t, 'x'.repeat(262_145)),
  }
  for (const [flaw, errorPage] of Object.entries(files)) {
    const { app, log } = await createApp(t, { errors: { errorPage }, before: failing })
    t.ok(
      log.some(({ level, msg }) => level === 40 && msg.includes(flaw)),
      flaw,
    )
    t.equal((await app.inject('/nope')).body, builtInPage)
  }
})

test('wwwroot/error.html is used without an option where it exists; its absence gives no warning', async (t) => {
  const before = process.cwd()
  t.teardown(() => process.chdir(before))
  process.chdir(await mkdtemp(join(tmpdir(), 'error-page-')))
  const boot = async () => {
    const { app, log } = await createApp(t, { errors: { errorPage: undefined as never }, before: failing })
    return { body: (await app.inject('/nope')).body, warnings: log.filter(({ level }) => level === 40) }
  }
  t.match(await boot(), { body: builtInPage, warnings: [] })
  t.equal((await boot()).warnings.length, 0)
  await mkdir('wwwroot')
  t.equal((await boot()).warnings.length, 0)
  await writeFile('wwwroot/error.html', own)
  t.same(await boot(), { body: own, warnings: [] })
  await writeFile('wwwroot/error.html', '')
  const unusable = await boot()
  t.equal(unusable.body, builtInPage)
  t.match(unusable.warnings, [{ msg: /wwwroot\/error\.html is empty/ }])
})

test('E77: the page is read at boot: deleting it later changes nothing', async (t) => {
  const errorPage = await withFile(t, own)
  const { app } = await createApp(t, { errors: { errorPage }, before: failing })
  await rm(errorPage)
  t.equal((await app.inject('/nope')).body, own)
})

test('what a page of last resort would run or load from elsewhere is refused by its policy', async (t) => {
  const errorPage = await withFile(t, '<script>1</script><img src="/logo.png"><h1>Sorry</h1>')
  const { app } = await createApp(t, { errors: { errorPage }, before: failing })
  const policy = String((await app.inject('/nope')).headers['content-security-policy'])
  t.match(policy, /^default-src 'none'; style-src 'unsafe-inline'; img-src data:/)
  t.notMatch(policy, /script-src|https?:|'self'/)
})

test('the built-in page is self-contained, small, and works in light and dark', async (t) => {
  t.ok(builtInPage.length < 4096)
  t.match(builtInPage, 'prefers-color-scheme: dark')
  t.notMatch(builtInPage, /<script|<link|src=|@import|url\(|https?:/)
})

test('the built-in page says status, title and message, whatever is written in them', async (t) => {
  const { write } = await loadErrorPage(false)
  const page = write({ status: 418, title: "I <b>am</b> a {{message}}'", message: '$& "{{status}}"' })
  t.match(page, '<title>I &#60;b&#62;am&#60;/b&#62; a {{message}}&#39;</title>')
  t.match(page, '<p>$&#38; &#34;{{status}}&#34;</p>')
  t.match(page, '<p class="status">418</p>')
})

test('decision 103: without Inertia a file with a mark is every error page, and the last resort', async (t) => {
  const errorPage = await withFile(t, "<!doctype html><title>Ours</title><h1 title='{{title}}'>Sorry</h1>")
  const { app } = await createApp(t, {
    errors: { errorPage, pages: 'browsers' },
    after: (it) =>
      it
        .get('/broken', throwing(new Error('bug')))
        .get('/unsent', { onSend: throwing(new Error('bug')) }, throwing(new NotFoundException("'", 1)))
        .get('/missing', throwing(new NotFoundException("'", 1))),
  })
  for (const [url, status, title] of [
    ['/nope', 404, 'Not Found'],
    ['/missing', 404, 'Resource not found'],
    ['/error/418', 418, 'I&#39;m a Teapot'],
    ['/broken', 500, 'Internal Server Error'],
    ['/unsent', 500, 'Internal Server Error'],
  ] as const) {
    const answer = await app.inject({ url, headers: browserHeaders })
    t.same([answer.statusCode, answer.body.split("'")[1]], [status, title])
    t.match(answer.headers['content-security-policy'], "default-src 'none'")
  }
})

test('decision 103: a file without marks is for status 500 alone', async (t) => {
  const errorPage = await withFile(t, own)
  const { app } = await createApp(t, {
    errors: { errorPage, pages: 'browsers' },
    after: (it) => it.get('/broken', throwing(new Error('bug'))),
  })
  const bodyOf = async (url: string) => (await app.inject({ url, headers: browserHeaders })).body
  t.equal(await bodyOf('/broken'), own)
  t.match(await bodyOf('/nope'), '<p class="status">404</p>')
  t.match(await bodyOf('/error/503'), '<p class="status">503</p>')
})

test('decision 46: an onSend hook that always throws ends in the static page, for answers of every kind', async (t) => {
  for (const [name, make] of Object.entries(hostileValues)) {
    await t.test(name, async (t) => {
      const { app, failures } = await createApp(t, {
        after: (it) =>
          it
            .addHook('onSend', async () => {
              throw make()
            })
            .get('/ok', async () => 'ok')
            .get('/bad', throwing(new Error('first secret'))),
      })
      for (const url of ['/ok', '/bad', '/nope', '/error/404']) {
        const answer = await app.inject({ url })
        t.equal(answer.statusCode, 500, url)
        t.equal(answer.body, builtInPage)
        t.notMatch(JSON.stringify(answer.headers), 'secret')
      }
      t.ok(failures().some(({ source }) => source === 'last-resort'))
    })
  }
})

test('headers of hooks that ran before an onSend hook failed stay, also where another one cannot be written', async (t) => {
  for (const [name, value] of [
    ['x-frame-options', 'DENY'],
    ['x-frame-options', 'DENY\u2028'],
  ] as const) {
    const { app } = await createApp(t, {
      after: (it) =>
        it
          .addHook('onRequest', async (_, reply) => {
            reply.header('access-control-allow-origin', '*').header('etag', '"1"').header(name, value)
          })
          .addHook('onSend', async () => {
            throw Object.assign(new Error('secret'), {
              headers: { 'x-secret': '1', 'x-frame-options': 'theirs' },
            })
          })
          .get('/ok', async () => 'ok')
          .get('/bad', throwing(new Error('secret'))),
    })
    for (const url of ['/ok', '/bad', '/nope']) {
      const { headers, body } = await app.inject(url)
      t.equal(body, builtInPage)
      t.equal(headers['access-control-allow-origin'], '*', url)
      t.equal(headers['x-frame-options'], value === 'DENY' ? value : undefined, url)
      t.same([headers['x-secret'], headers.etag], [undefined, undefined])
    }
  }
})

test('a callback onSend hook that throws or fails is no different', async (t) => {
  for (const fail of [
    throwing(new Error('secret')),
    (_1: unknown, _2: unknown, _3: unknown, done: (err: Error) => void) => done(new Error('secret')),
    (_1: unknown, _2: unknown, _3: unknown, done: (err: unknown) => void) => setImmediate(done, 'secret'),
  ]) {
    const { app } = await createApp(t, {
      after: (it) => it.addHook('onSend', fail as never).get('/', async () => 'ok'),
    })
    const answer = await app.inject('/')
    t.equal(answer.statusCode, 500)
    t.equal(answer.body, builtInPage)
  }
})

test('callers that want JSON get a constant problem as the last resort', async (t) => {
  const { app } = await createApp(t, {
    after: (it) =>
      it
        .addHook(
          'onRequest',
          async (_, reply) => void reply.header('access-control-allow-origin', 'https://app.example'),
        )
        .addHook('onSend', async () => {
          throw Object.assign(new Error('secret'), { headers: { 'x-secret': '1' } })
        })
        .get('/', async () => 'ok'),
  })
  const answer = await app.inject({ url: '/', headers: { accept: 'application/json' } })
  problemOf(t, answer, 500, 'Internal Server Error')
  t.equal(
    answer.headers['access-control-allow-origin'],
    'https://app.example',
    'so that a browser lets the client read it',
  )
  t.equal(answer.headers['x-secret'], undefined)
  t.notMatch(answer.body, 'secret')
})
