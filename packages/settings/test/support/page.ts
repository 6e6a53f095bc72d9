/** Pages of an application, in Chromium: a script that a test writes, and callers who sign in by a cookie. */
import { settings, type SettingsOptions } from '@fastify-modular/settings'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import type { BrowserContext, Page } from 'playwright-core'
import type { Test } from 'tap'
import { definitions } from './app.ts'
import { portOf } from './live.ts'

/** No script within the document, and nothing from elsewhere. */
const policy =
  "default-src 'none'; script-src 'self'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'"

function callerOf({ headers }: FastifyRequest): { id: string } | null {
  const [, id] = /(?:^|; )caller=(\w+)/.exec(headers.cookie ?? '') ?? []
  return id === undefined ? null : { id }
}

interface PageOptions {
  readonly settings?: SettingsOptions
  /** Whether the document has the first values. @default true */
  readonly hasData?: boolean
  /** The name that pages know the application by. @default '127.0.0.1' */
  readonly host?: string
}

/** In a page: timers of a few seconds and more run when the test says so, however long a busy machine takes. */
const holdLongTimers = `{
  const { setTimeout: set, clearTimeout: clear } = window
  const held = new Map()
  let last = 0
  window.setTimeout = (run, time = 0) => {
    if (time < 4000) return set(run, time)
    held.set(--last, { run, time })
    return last
  }
  window.clearTimeout = (id) => held.delete(id) || clear(id)
  window.runLongTimers = () => {
    const due = [...held.values()]
    held.clear()
    for (const { run } of due) run()
    return due.map(({ time }) => time)
  }
}`

/** An application with a document at `/page`, which has the script; `/hold` answers when the test says so. */
export async function startPages(
  t: Test,
  script: string,
  { settings: options, hasData = true, host = '127.0.0.1' }: PageOptions = {},
) {
  const app = Fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  const streams: FastifyRequest[] = []
  let release = (): void => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  let openStreams = 0
  app.addHook('onRequest', async (request, { raw }) => {
    if (!request.url.endsWith('/stream')) return
    streams.push(request)
    openStreams++
    raw.once('close', () => openStreams--)
  })
  await app.register(settings, {
    definitions: [definitions],
    findCaller: callerOf,
    selfService: true,
    ...options,
  })
  app.get('/page', async (request, reply) =>
    reply.type('text/html').header('content-security-policy', policy)
      .send(`<!doctype html><html lang="en"><head><title>Page</title><link rel="icon" href="data:,">
${hasData ? await app.settings.publicDataElement(request) : ''}
<script type="module" src="/script.js"></script></head><body><div id="root"></div></body></html>`),
  )
  app.get('/script.js', (_request, reply) => reply.type('text/javascript').send(script))
  app.get('/other', (_request, reply) => reply.type('text/html').send('<!doctype html><title>Other</title>'))
  let isHolding = false
  app.get('/hold', async () => {
    isHolding = true
    await held
    return ''
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const url = `http://${host}:${portOf(app)}`

  async function open(context: BrowserContext): Promise<Page> {
    const page = await context.newPage()
    await page.addInitScript(holdLongTimers)
    await page.goto(`${url}/page`)
    return page
  }

  return {
    app,
    url,
    open,
    release,
    /** Whether `/hold` was asked for. */
    isHolding: () => isHolding,
    /** Requests of streams, in their order. */
    streams,
    signIn: (context: BrowserContext, caller: string) =>
      context.addCookies([{ name: 'caller', value: caller, url }]),
    /** How many streams are open. */
    openStreams: () => openStreams,
  }
}

/** Changes one setting of the application. */
export function change(app: FastifyInstance, key: string, value: string | number): Promise<void> {
  return app.settings.set(key, value)
}
