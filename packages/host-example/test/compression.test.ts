/** What travels compressed, what arrives the same, and what stays as it is. */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { test } from 'tap'
import { startHost } from './host.js'

/** An answer as its bytes travelled. */
async function travel(url: string, headers: Record<string, string>) {
  const asked = request(url, { headers }).end()
  const [answer] = await once(asked, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk)
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks) }
}

const decoders = { br: brotliDecompressSync, gzip: gunzipSync }

test('what is large and the same for everybody, and what programs read, travels compressed, once', async (t) => {
  const host = await startHost(t)
  const admin = await host.signIn('admin')
  const { cookie } = admin
  const note = { title: 'Tea', body: 'Green or black. '.repeat(100) }
  t.equal((await admin.ask('/api/notes', { method: 'POST', body: note })).status, 201)
  const { text } = await admin.ask('/settings/preferences', { headers: { accept: 'text/html' } })
  const script = `/settings/${/assets\/app\.[\w-]+\.js/.exec(text)?.[0]}`
  const paths = [
    '/api/docs/static/swagger-ui-bundle.js', // of @fastify/swagger-ui
    '/api/docs/static/swagger-ui.css',
    '/openapi.json',
    '/api/settings', // compressed by settings
    '/api/settings/definitions',
    '/api/notes',
    script, // compressed when it was built
  ]
  for (const path of paths) {
    const plain = await travel(host.url + path, { cookie, 'accept-encoding': 'identity' })
    t.equal(plain.status, 200, path)
    for (const [encoding, decode] of Object.entries(decoders)) {
      const packed = await travel(host.url + path, { cookie, 'accept-encoding': encoding })
      t.equal(packed.headers['content-encoding'], encoding, path)
      t.match(packed.headers.vary, /accept-encoding/i)
      t.ok(decode(packed.body).equals(plain.body), `${path} arrives the same as ${encoding}`)
      t.ok(packed.body.length < plain.body.length / 2, `${path} ${packed.body.length} ${plain.body.length}`)
    }
  }
})

test('what Swagger UI consists of is compressed when the pages are built, and kept by browsers', async (t) => {
  const host = await startHost(t)
  for (const file of ['swagger-ui-bundle.js', 'swagger-ui.css']) {
    const kept = await readFile(new URL(`../dist/public/swagger-ui/${file}.br`, import.meta.url))
    const sent = await travel(`${host.url}/api/docs/static/${file}`, { 'accept-encoding': 'br' })
    t.ok(sent.body.equals(kept), file)
    t.equal(sent.headers['content-length'], String(kept.length))
    t.equal(sent.headers['cache-control'], 'public, max-age=3600')
  }
  t.not((await host.anonymous.ask('/api/docs/static/..%2f.vite%2fmanifest.json')).status, 200)
  t.equal((await host.anonymous.ask('/api/docs/static/missing.js')).status, 404)
})

test('documents are not compressed: their length would tell what stands beside text of their address', async (t) => {
  const host = await startHost(t)
  const { cookie } = await host.signIn('alice')
  for (const path of ['/notes?q=secret', '/', '/login', '/settings/preferences', '/missing'])
    t.equal(
      (await travel(host.url + path, { cookie, accept: 'text/html', 'accept-encoding': 'br' })).headers[
        'content-encoding'
      ],
      undefined,
      path,
    )
})

test('bodies of requests are read as they are: none can unpack to a thousand times its size', async (t) => {
  const host = await startHost(t)
  const { cookie } = await host.signIn('alice')
  const answer = await fetch(`${host.url}/api/notes`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json', 'content-encoding': 'gzip' },
    body: new Uint8Array(gzipSync('{"title":"Tea"}')),
  })
  t.equal(answer.status, 400)
})
