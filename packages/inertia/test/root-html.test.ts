import { test } from 'tap'
import fc from 'fast-check'
import { createApp, embeddedPage } from './fixture.js'

test('hostile text stays data: it neither ends the element nor opens a comment', async (t) => {
  const title = `</script><script>alert(1)</script><!-- & ]]> \u2028\u2029 '"$&$\``
  const app = await createApp({}, (it) => it.get('/', (_, reply) => reply.inertia('Page', { title })))
  const { body } = await app.inject('/?q=</script><img>')
  t.equal(body.match(/<script/g)?.length, 1)
  t.equal(body.match(/<\/script/g)?.length, 1)
  t.notMatch(body, /<!--|<img|[\u2028\u2029]/)
  t.equal(embeddedPage(body).props.title, title)
})

test('property: any text survives the way through the document', async () => {
  let text = ''
  const app = await createApp({ rootTemplate: '<body><!--inertia--></body>' }, (it) =>
    it.get('/', (_, reply) => reply.inertia('Page', { text })),
  )
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), async (any) => {
      text = any
      const { body } = await app.inject('/')
      return embeddedPage(body).props.text === text && body.split('<').length === 7
    }),
  )
})

test('the page goes where the mark stands, whatever the template and the page contain', async (t) => {
  const rootTemplate = '<html><title>$&</title><body class="x"><!--inertia--><footer></footer></body></html>'
  const app = await createApp({ rootTemplate }, (it) =>
    it.get('/', (_, reply) => reply.inertia('P', { a: '$1' })),
  )
  t.match((await app.inject('/')).body, /^<html><title>\$&<\/title><body class="x"><script .*<\/div><footer>/)
})

test('a template function gets the page, the request and the nonce', async (t) => {
  const app = await createApp(
    {
      rootTemplate: ({ html, page: { component }, request, nonce }) =>
        `<title>${component} ${request.method}</title>${html}<script nonce="${nonce}">1</script>`,
      nonce: (request) => String(request.id),
    },
    (it) => it.get('/', (_, reply) => reply.inertia('Home')),
  )
  t.equal(
    (await app.inject('/')).body,
    '<title>Home GET</title><script data-page="app" type="application/json" nonce="req-1">' +
      '{"component":"Home","props":{"errors":{}},"url":"/","version":"v1"}' +
      '</script><div id="app"></div><script nonce="req-1">1</script>',
  )
})

test('a nonce cannot leave its attribute', async (t) => {
  const app = await createApp({ nonce: () => '"><script>' }, (it) =>
    it.get('/', (_, reply) => reply.inertia('Page')),
  )
  t.match((await app.inject('/')).body, 'nonce="&quot;>&lt;script>"')
})

test('a template without the mark, or with two, is refused at boot', async (t) => {
  for (const rootTemplate of ['<html></html>', '<!--inertia--><!--inertia-->'])
    await t.rejects(createApp({ rootTemplate }), {
      code: 'FMOD_CORE_INVALID_OPTION',
      message: /rootTemplate must hold the mark "<!--inertia-->" once/,
    })
})
