/** Pages of an application, in Chromium: a script that a test writes, and callers who sign in by a cookie. */
import { settings, type SettingsOptions } from '@fastify-modular/settings'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import type { BrowserContext, Page } from 'playwright-core'
import type { Test } from 'tap'
import { definitions } from './app.ts'
import { portOf } from './live.ts'

/** No script within the document, and nothing from elsewhere. */
const policy =
  "default-src 'none'; script-src 'self'; connect-src 'self'; frame-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'"

function callerOf({ headers }: FastifyRequest): { id: string } | null {
  const [, id] = /(?:^|; )caller=(\w+)/.exec(headers.cookie ?? '') ?? []
  return id === undefined ? null : { id }
}

interface PageOptions {
  readonly settings?: SettingsOptions
  /** Whether the document has the first values. @default true */
  readonly hasData?: boolean
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

/** The element with the first values, of whoever the page says that it was made for. */
function toData(
  app: FastifyInstance,
  request: FastifyRequest,
  madeFor: string | undefined,
): Promise<string> | string {
  if (madeFor === undefined) return app.settings.publicDataElement(request)
  const data = JSON.stringify({ caller: madeFor, values: { [`only.${madeFor}`]: true } })
  return `<script type="application/json" id="settings-data">${data}</script>`
}

/** An application with a document at `/page`, which has the script; `/hold` answers when the test says so. */
export async function startPages(
  t: Test,
  script: string,
  { settings: options, hasData = true }: PageOptions = {},
) {
  const streams: FastifyRequest[] = []
  let release = (): void => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  let openStreams = 0
  let isHolding = false
  let port = 0

  async function listen(overrides: NonNullable<SettingsOptions['overrides']>): Promise<FastifyInstance> {
    const app = Fastify({ forceCloseConnections: true })
    t.teardown(() => app.close())
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
      overrides,
      ...options,
    })
    app.get<{ Querystring: { 'made-for'?: string } }>('/page', async (request, reply) =>
      reply.type('text/html').header('content-security-policy', policy)
        .send(`<!doctype html><html lang="en"><head><title>Page</title><link rel="icon" href="data:,">
${hasData ? await toData(app, request, request.query['made-for']) : ''}
<script type="module" src="/script.js"></script></head><body><div id="root"></div></body></html>`),
    )
    app.get('/script.js', (_request, reply) => reply.type('text/javascript').send(script))
    app.get('/other', (_request, reply) =>
      reply.type('text/html').send('<!doctype html><title>Other</title>'),
    )
    app.get('/hold', async () => {
      isHolding = true
      await held
      return ''
    })
    await app.listen({ port, host: '127.0.0.1' })
    port = portOf(app)
    return app
  }

  const app = await listen({})
  const url = `http://127.0.0.1:${port}`

  async function open(context: BrowserContext, query = ''): Promise<Page> {
    const page = await context.newPage()
    await page.addInitScript(holdLongTimers)
    await page.goto(`${url}/page${query}`)
    return page
  }

  return {
    app,
    url,
    open,
    /** Starts the next version of the application, after the first one has closed. */
    deploy: listen,
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
