/** What travels compressed, what arrives the same, and what stays as it is. */
import { once } from 'node:events'
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

test('compression', async (t) => {
  const host = await startHost(t)

  await t.test(
    'what is large and the same for everybody, and what programs read, travels compressed, once',
    async (t) => {
      const admin = await host.signIn('admin')
      const { cookie } = admin
      const note = { title: 'Tea', body: 'Green or black. '.repeat(100) }
      t.equal((await admin.ask('/api/notes', { method: 'POST', body: note })).status, 201)
      const { text } = await admin.ask('/', { headers: { accept: 'text/html' } })
      const [script = ''] = /\/static\/[\w-]+\.js/.exec(text) ?? []
      const paths = [
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
          t.ok(
            packed.body.length < plain.body.length / 2,
            `${path} ${packed.body.length} ${plain.body.length}`,
          )
        }
      }
    },
  )

  await t.test(
    'documents are not compressed: their length would tell what stands beside text of their address',
    async (t) => {
      const { cookie } = await host.signIn('alice')
      for (const path of ['/notes?q=secret', '/', '/login', '/settings/preferences', '/missing'])
        t.equal(
          (await travel(host.url + path, { cookie, accept: 'text/html', 'accept-encoding': 'br' })).headers[
            'content-encoding'
          ],
          undefined,
          path,
        )
    },
  )

  await t.test(
    'bodies of requests are read as they are: none can unpack to a thousand times its size',
    async (t) => {
      const { cookie } = await host.signIn('alice')
      const answer = await fetch(`${host.url}/api/notes`, {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json', 'content-encoding': 'gzip' },
        body: new Uint8Array(gzipSync('{"title":"Tea"}')),
      })
      t.equal(answer.status, 400)
    },
  )
})
