/** Reads a stream of settings over a real socket. */
import { once } from 'node:events'
import { get, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { settings, type SettingsOptions } from '@fastify-modular/settings'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { createApp, definitions } from './app.ts'

type Test = Parameters<typeof createApp>[0]

export interface StreamEvent {
  readonly id: string
  /** Empty for what only sets the id. */
  readonly event: string
  readonly data: readonly { readonly key: string; readonly [member: string]: unknown }[]
}

export interface StreamReader {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Everything that came so far. */
  readonly text: string
  /** The next event, also one that only sets the id. @throws {Error} the stream ended first */
  next(): Promise<StreamEvent>
  /** The next event of a name. */
  next(event: string): Promise<StreamEvent>
  /** The next one about shared values, of which an id alone says that there is nothing new. */
  nextShared(): Promise<StreamEvent>
  /** Resolves with everything when the stream has ended. */
  ended(): Promise<string>
  close(): void
}

/** An application that listens. */
export async function start(t: Test, options?: SettingsOptions, server?: FastifyServerOptions) {
  const app = await createApp(t, options, server)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app
}

/** The same, with hooks that are added before the plugin; every caller is alice. */
export async function withHooks(
  t: Test,
  add: (app: FastifyInstance) => void,
  options: SettingsOptions & FastifyServerOptions = {},
): Promise<FastifyInstance> {
  const { findCaller = () => ({ id: 'alice' }), ...server } = options
  const app = Fastify(server)
  t.teardown(() => app.close())
  add(app)
  await app.register(settings, { definitions: [definitions], findCaller })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app
}

/** Opens a stream of an application that listens, or of the one at a port; as alice. */
export async function readStream(
  app: FastifyInstance | number,
  { path = '/stream', headers = { 'x-caller': 'alice' } }: ReadOptions = {},
): Promise<StreamReader> {
  const port = typeof app === 'number' ? app : (app.server.address() as AddressInfo).port
  const request = get({
    host: '127.0.0.1',
    port,
    path: `/api/settings${path}`,
    headers,
    agent: false,
  })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const state = { text: '', rest: '', isEnded: false }
  let wake = (): void => {}
  response.setEncoding('utf8').on('data', (chunk: string) => {
    state.text += chunk
    state.rest += chunk
    wake()
  })
  response.on('error', () => {})
  response.on('close', () => {
    state.isEnded = true
    wake()
  })
  const change = (): Promise<void> => new Promise((resolve) => (wake = resolve))

  async function next(name?: string): Promise<StreamEvent> {
    for (;;) {
      const end = state.rest.indexOf('\n\n')
      if (end >= 0) {
        const found = parse(state.rest.slice(0, end))
        state.rest = state.rest.slice(end + 2)
        if (name === undefined || found.event === name) return found
      } else if (state.isEnded) throw new Error(`The stream ended: ${state.text}`)
      else await change()
    }
  }

  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    get text() {
      return state.text
    },
    next,
    async nextShared() {
      const event = await next()
      return event.event === 'own' ? next() : event
    },
    async ended() {
      while (!state.isEnded) await change()
      return state.text
    },
    close: () => response.destroy(),
  }
}

/** Opens many streams, in portions: a server that has no time holds 511 connections that it has not accepted, and drops others. */
export async function readStreams(
  app: FastifyInstance,
  wanted: readonly ReadOptions[],
): Promise<readonly StreamReader[]> {
  const streams: StreamReader[] = []
  while (streams.length < wanted.length) {
    const portion = wanted.slice(streams.length, streams.length + 200)
    streams.push(...(await Promise.all(portion.map((options) => readStream(app, options)))))
  }
  return streams
}

interface ReadOptions {
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
}

function parse(text: string): StreamEvent {
  const fields = new Map(text.split('\n').map((line) => line.split(/: (.*)/s) as [string, string]))
  const data = JSON.parse(fields.get('data') ?? '[]')
  return {
    id: fields.get('id') ?? '',
    event: fields.get('event') ?? '',
    data: Array.isArray(data) ? data : [],
  }
}
