import { inertia } from '@fastify-modular/inertia'
import type { FastifyInstance } from 'fastify'
import { JSDOM, VirtualConsole } from 'jsdom'
import { type Test, test } from 'tap'
import { ConflictException, NotFoundException } from '@fastify-modular/core'
import { withErrorPages } from '@fastify-modular/errors/react'
import { createApp, listen, throwing } from '../support/app.js'

test('E90: the real client shows error pages in place of the page that failed', async (t) => {
  const client = await startClient(t)
  t.match(client.text(), 'Home')

  await client.visit('/nope')
  t.match(client.text(), 'The requested resource was not found.')
  t.equal(client.path(), '/nope')

  await client.visit('/home')
  t.match(client.text(), 'Home')

  await client.visit('/missing')
  t.match(client.text(), 'Product with ID 42 not found')

  await client.visit('/broken', 'post')
  t.match(client.text(), 'An unexpected error occurred. Please try again later.')
  t.notMatch(client.text(), 'secret')

  await client.visit('/conflict')
  t.match(client.text(), 'stale', 'a status without a component of its own has the fallback')

  t.same(client.dialogs(), 0, 'never the dialog for foreign responses')
  t.same(client.failures, [])
})

interface Client {
  visit(path: string, method?: 'get' | 'post'): Promise<void>
  text(): string
  path(): string
  dialogs(): number
  readonly failures: readonly unknown[]
}

/** A server, and the Inertia client started from its first page in a document of its own. */
async function startClient(t: Test): Promise<Client> {
  const { app } = await createApp(t, { after: serve })
  const { port } = await listen(app)
  const url = `http://127.0.0.1:${port}/home`
  const { document } = openDocument(t, url, (await app.inject('/home')).body).window

  // Imported only now: these modules look at the document when they are loaded.
  const { createInertiaApp, router } = await import('@inertiajs/react')
  const failures: unknown[] = []
  for (const name of ['networkError', 'exception'])
    document.addEventListener(`inertia:${name}`, (event) => failures.push(event))
  const pages: Readonly<Record<string, () => string>> = { Home: () => 'Home' }
  await createInertiaApp({
    resolve: withErrorPages((name) => pages[name] ?? (() => `no page ${name}`)),
    progress: false,
  })
  await settled()

  return {
    failures,
    async visit(path, method = 'get') {
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`The visit to ${path} did not finish`)), 60_000)
        router.visit(path, { method, onFinish: () => (clearTimeout(timer), resolve()) })
      })
      await settled()
    },
    text: () => document.getElementById('app')?.textContent ?? '',
    path: () => document.location.pathname,
    dialogs: () => document.querySelectorAll('dialog, iframe').length,
  }
}

function serve(app: FastifyInstance): void {
  void app.register(inertia, { version: 'v1' })
  void app.register(async (scope) => {
    scope.get('/home', (_, reply) => reply.inertia('Home'))
    scope.get('/missing', throwing(new NotFoundException('Product', 42)))
    scope.post('/broken', throwing(new Error('secret')))
    scope.get('/conflict', throwing(new ConflictException('stale')))
  })
}

/** Makes the document that browser code finds as its global one. */
function openDocument(t: Test, url: string, html: string): JSDOM {
  const dom = new JSDOM(html, { url, pretendToBeVisual: true, virtualConsole: new VirtualConsole() })
  const { window } = dom
  // What the client uses and jsdom has not.
  Object.assign(window, { scrollTo: () => undefined })
  Object.assign(window.performance, { getEntriesByType: () => [] })
  const both = new Set(['Event', 'CustomEvent', 'FormData', 'navigator']) // Node's own would not fit this document
  for (const name of Object.getOwnPropertyNames(window)) {
    if (name in globalThis && !both.has(name)) continue
    Object.defineProperty(globalThis, name, {
      value: (window as never)[name],
      configurable: true,
      writable: true,
    })
  }
  t.teardown(() => window.close())
  return dom
}

/** React commits and the client's queue run in later tasks. */
async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setTimeout(resolve, 5))
}
